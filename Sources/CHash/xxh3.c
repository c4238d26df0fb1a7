// Inlined from the header, so that the static executable does not need another archive.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "CHash.h"

uint64_t chash_xxh3_64(const void *bytes, size_t length) { return XXH3_64bits(bytes, length); }

uint64_t chash_xxh3_128(const void *bytes, size_t length, uint64_t *high) {
  XXH128_hash_t hash = XXH3_128bits(bytes, length);
  *high = hash.high64;
  return hash.low64;
}

// The library allocates its state with the alignment that its vectors need.
static XXH3_state_t *state(const chash_pieces *pieces) { return (XXH3_state_t *)pieces; }

chash_pieces *chash_pieces_begin(void) {
  XXH3_state_t *new = XXH3_createState();
  if (new && XXH3_128bits_reset(new) != XXH_OK) {
    XXH3_freeState(new);
    new = NULL;
  }
  return (chash_pieces *)new;
}

void chash_pieces_add(chash_pieces *pieces, const void *bytes, size_t length) {
  // Fails only for NULL without bytes, which adds nothing.
  (void)XXH3_128bits_update(state(pieces), bytes, length);
}

uint64_t chash_pieces_result(const chash_pieces *pieces, uint64_t *high) {
  XXH128_hash_t hash = XXH3_128bits_digest(state(pieces));
  *high = hash.high64;
  return hash.low64;
}

void chash_pieces_end(chash_pieces *pieces) { XXH3_freeState(state(pieces)); }
