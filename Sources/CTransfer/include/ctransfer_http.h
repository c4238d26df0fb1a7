#pragma once
#include <stddef.h>
#include <stdint.h>

/// Runs one transfer at a time and reuses connections.
struct ctransfer;

/// The receiver of a transfer's bytes. Both functions return 0, or another value to end the
/// transfer.
struct ctransfer_sink {
  void *context;
  /// Gets a header line of the response, with its newline.
  int32_t (*line)(void *context, const void *bytes, size_t count);
  int32_t (*body)(void *context, const void *bytes, size_t count);
};

struct ctransfer_request {
  const char *url;
  /// `Name: value`.
  char *const *headers;
  size_t header_count;
  /// `NAME:PASSWORD`, percent-encoded, or NULL.
  const char *user_info;
  /// NULL: use the environment of this process.
  const char *proxy;
  const char *no_proxy;
  /// Bytes per second; 0 for no limit.
  int64_t max_speed;
  int32_t connect_milliseconds;
  /// The receive buffer size, at least 1024.
  int32_t receive_bytes;
  /// The URL is a file URL.
  int32_t is_file;
};

/// How a transfer ended.
struct ctransfer_result {
  /// CURLcode; 0 for success.
  int32_t code;
  /// 1 if a TLS connection ended without a close alert: the data may be truncated.
  int32_t is_cut;
  /// The errno of a failed connection, or 0.
  int32_t system_error;
};

/// Call once per process, before anything else. Returns 0 or -1.
int32_t ctransfer_start(void);

/// Returns NULL if there is no memory. `authorities_file` and `authorities_folder` replace the
/// system's trusted certificates unless NULL.
struct ctransfer *ctransfer_create(struct ctransfer_sink sink, const char *authorities_file,
                                   const char *authorities_folder);
void ctransfer_free(struct ctransfer *transfer);

/// Begins a transfer; the previous one must have ended. Copies the strings. Returns 0 or a
/// CURLcode.
int32_t ctransfer_begin(struct ctransfer *transfer, const struct ctransfer_request *request);

#define CTRANSFER_MOST_OTHERS 4

/// Does what can be done now. Then, unless the transfer has ended, waits at most `milliseconds` for
/// more to do or until one of `others` (`count` descriptors, at most CTRANSFER_MOST_OTHERS) is
/// readable; bits of `ready` tell which. Returns 1 if the transfer has ended, 0 if not, -1 if the
/// library fails.
int32_t ctransfer_step(struct ctransfer *transfer, const int32_t *others, int32_t count,
                       int32_t milliseconds, int32_t *ready);

/// Aborts a transfer and closes its connection, which may be in the middle of a body.
void ctransfer_cancel(struct ctransfer *transfer);

struct ctransfer_result ctransfer_result(struct ctransfer *transfer);

/// libcurl's message for a failure with that CURLcode, zero-terminated.
void ctransfer_error_text(struct ctransfer *transfer, int32_t code, char *buffer, size_t size);
