// Inlined from the library's header: the static executable then needs no second archive.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "CHash.h"

uint64_t chash_xxh3_64(const void *bytes, size_t length) { return XXH3_64bits(bytes, length); }

uint64_t chash_xxh3_128(const void *bytes, size_t length, uint64_t *high) {
  XXH128_hash_t hash = XXH3_128bits(bytes, length);
  *high = hash.high64;
  return hash.low64;
}
