#pragma once
#include <stddef.h>
#include <stdint.h>

/// Undoes gzip and deflate (RFC 1952, 1950), the latter also without its header (RFC 1951).
struct ctransfer_inflate;

enum {
  CTRANSFER_INFLATE_MORE = 0,
  /// The last member ended at the end of what came so far.
  CTRANSFER_INFLATE_END = 1,
  CTRANSFER_INFLATE_BROKEN = -1,
};

struct ctransfer_inflate *ctransfer_inflate_create(void);
void ctransfer_inflate_free(struct ctransfer_inflate *inflater);

/// Takes up to `count` bytes and gives up to `room`. `taken` and `given` say how many it were. Call it
/// again with the rest until all is taken and less than `room` was given.
int32_t ctransfer_inflate_step(struct ctransfer_inflate *inflater, const uint8_t *bytes,
                               size_t count, size_t *taken, uint8_t *result, size_t room,
                               size_t *given);
