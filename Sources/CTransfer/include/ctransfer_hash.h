#pragma once
#include <stddef.h>
#include <stdint.h>

#define CTRANSFER_HASH_LONGEST 64

/// A hash that is computed in pieces.
struct ctransfer_hash;

/// Creates a SHA-2 hash; `bits` is 256 or 512. NULL if there is no memory or libcrypto refuses the
/// algorithm.
struct ctransfer_hash *ctransfer_hash_create(int32_t bits);
void ctransfer_hash_free(struct ctransfer_hash *hash);

/// Starts again. Returns 0 or -1.
int32_t ctransfer_hash_reset(struct ctransfer_hash *hash);
int32_t ctransfer_hash_update(struct ctransfer_hash *hash, const void *bytes, size_t count);

/// Writes the hash of everything so far to `result` (CTRANSFER_HASH_LONGEST bytes); more may be
/// added afterwards. Returns its length or -1.
int32_t ctransfer_hash_result(struct ctransfer_hash *hash, uint8_t *result);
