#pragma once
#include <stddef.h>
#include <stdint.h>

/// One transfer at a time, over connections that are kept from one to the next.
struct ctransfer;

/// Where a transfer's bytes go. Both return 0, or anything else to end the transfer.
struct ctransfer_sink {
  void *context;
  /// A line of the answer's head, its end of line included.
  int32_t (*line)(void *context, const void *bytes, size_t count);
  int32_t (*body)(void *context, const void *bytes, size_t count);
};

struct ctransfer_request {
  const char *url;
  /// `Name: value` each.
  char *const *headers;
  size_t header_count;
  /// `NAME:PASSWORD` as a URL has it, or NULL.
  const char *user_info;
  /// NULL: as the environment of this process says.
  const char *proxy;
  const char *no_proxy;
  /// Bytes per second; 0 for no limit.
  int64_t max_speed;
  int32_t connect_milliseconds;
  /// How much is read from a socket at once; from 1024 on.
  int32_t receive_bytes;
  /// The URL is one of a file.
  int32_t is_file;
};

/// How a transfer ended.
struct ctransfer_result {
  /// CURLcode; 0 for success.
  int32_t code;
  /// 1 when a TLS connection ended without the alert that announces it: somebody may have cut it.
  int32_t is_cut;
};

/// Once per process, before anything else. Returns 0, or -1.
int32_t ctransfer_start(void);

/// NULL when there is no memory. `authorities`: a file and a folder of certificates to trust in place of
/// the system's; NULL for those.
struct ctransfer *ctransfer_create(struct ctransfer_sink sink, const char *authorities_file,
                                   const char *authorities_folder);
void ctransfer_free(struct ctransfer *transfer);

/// Begins a transfer, which the ones before must have ended. The strings are copied. Returns 0, or a
/// CURLcode.
int32_t ctransfer_begin(struct ctransfer *transfer, const struct ctransfer_request *request);

#define CTRANSFER_MOST_OTHERS 4

/// Does what can be done now, and then, unless the transfer ended, waits at most `milliseconds` for
/// something to do or for one of `others` (`count` descriptors, at most CTRANSFER_MOST_OTHERS) to become
/// readable, which the bits of `ready` then tell. Returns 1 when the transfer has ended, 0 when it has
/// not, -1 when the library fails.
int32_t ctransfer_step(struct ctransfer *transfer, const int32_t *others, int32_t count,
                       int32_t milliseconds, int32_t *ready);

/// Ends a transfer wherever it is. Its connection is closed, for it may be in the middle of a body.
void ctransfer_cancel(struct ctransfer *transfer);

struct ctransfer_result ctransfer_result(struct ctransfer *transfer);

/// What libcurl has to say about a failure with that CURLcode, ended by a zero.
void ctransfer_error_text(struct ctransfer *transfer, int32_t code, char *buffer, size_t size);
