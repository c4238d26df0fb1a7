#pragma once
#include <stddef.h>
#include <stdint.h>

#define CTRANSFER_HASH_LONGEST 64

/// A hash that is computed piece by piece.
struct ctransfer_hash;

/// `bits`: 256 or 512, of SHA-2. NULL when there is no memory, or libcrypto refuses the algorithm.
struct ctransfer_hash *ctransfer_hash_create(int32_t bits);
void ctransfer_hash_free(struct ctransfer_hash *hash);

/// Begins anew. Returns 0, or -1.
int32_t ctransfer_hash_reset(struct ctransfer_hash *hash);
int32_t ctransfer_hash_update(struct ctransfer_hash *hash, const void *bytes, size_t count);

/// Writes the hash of all that came so far to `result` (CTRANSFER_HASH_LONGEST bytes of room), and can
/// go on after that. Returns its length, or -1.
int32_t ctransfer_hash_result(struct ctransfer_hash *hash, uint8_t *result);
