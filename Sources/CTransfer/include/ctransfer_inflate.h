#pragma once
#include <stddef.h>
#include <stdint.h>

/// Decompresses gzip and deflate (RFC 1952, 1950), the latter also without its header (RFC 1951).
struct ctransfer_inflate;

enum {
  CTRANSFER_INFLATE_MORE = 0,
  /// The last member ended exactly at the end of the input so far.
  CTRANSFER_INFLATE_END = 1,
  CTRANSFER_INFLATE_BROKEN = -1,
};

struct ctransfer_inflate *ctransfer_inflate_create(void);
void ctransfer_inflate_free(struct ctransfer_inflate *inflater);

/// Reads up to `count` bytes and writes up to `room`; `taken` and `given` return the numbers. Call
/// it again with the rest until all is taken and less than `room` was given.
int32_t ctransfer_inflate_step(struct ctransfer_inflate *inflater, const uint8_t *bytes,
                               size_t count, size_t *taken, uint8_t *result, size_t room,
                               size_t *given);
