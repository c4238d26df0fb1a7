#pragma once
#include <stddef.h>
#include <stdint.h>

/// CRC-32C (Castagnoli, RFC 3720 appendix B.4), continuing from `crc` (0 to begin).
uint32_t chash_crc32c(uint32_t crc, const void *bytes, size_t length);

/// A line: the bytes before its newline and their CRC-32C.
typedef struct {
  size_t length;
  uint32_t checksum;
} chash_line;

/// The first line of `length` bytes (all of them without a newline), in one pass.
chash_line chash_crc32c_line(const void *bytes, size_t length);

/// Whether `length` bytes are equal.
static inline int32_t chash_equal(const void *a, const void *b, size_t length) {
  return length == 0 || __builtin_memcmp(a, b, length) == 0;
}

/// Compares bytes: negative if `a` comes first, 0 if equal, positive if `b` comes first.
static inline int32_t chash_order(
  const void *a, size_t a_length, const void *b, size_t b_length) {
  const size_t shared = a_length < b_length ? a_length : b_length;
  const int order = shared == 0 ? 0 : __builtin_memcmp(a, b, shared);
  if (order != 0) return order;
  return a_length < b_length ? -1 : a_length > b_length;
}

/// XXH3 with 64 bits (https://github.com/Cyan4973/xxHash, doc/xxhash_spec.md), seed 0.
uint64_t chash_xxh3_64(const void *bytes, size_t length);

/// XXH3 with 128 bits, seed 0: returns the low half, stores the high half.
uint64_t chash_xxh3_128(const void *bytes, size_t length, uint64_t *high);

/// XXH3 with 128 bits over several pieces. `begin` returns NULL if there is no memory.
typedef struct chash_pieces chash_pieces;
chash_pieces *chash_pieces_begin(void);
void chash_pieces_add(chash_pieces *pieces, const void *bytes, size_t length);
uint64_t chash_pieces_result(const chash_pieces *pieces, uint64_t *high);
void chash_pieces_end(chash_pieces *pieces);

/// SHA-256 (FIPS 180-4) over several pieces. The state is the caller's memory of that size, aligned
/// for 64 bits.
size_t chash_sha256_size(void);
void chash_sha256_begin(void *state);
void chash_sha256_add(void *state, const void *bytes, size_t length);
/// The 32-byte hash of everything added so far; more may be added afterwards.
void chash_sha256_result(const void *state, unsigned char *digest);
