// The functions of a single algorithm: the generic ones link the whole library and look the
// algorithm up for each hash.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "CHash.h"

#include <openssl/sha.h>

size_t chash_sha256_size(void) { return sizeof(SHA256_CTX); }

void chash_sha256_begin(void *state) { SHA256_Init(state); }

void chash_sha256_add(void *state, const void *bytes, size_t length) {
  if (length > 0) SHA256_Update(state, bytes, length);
}

void chash_sha256_result(const void *state, unsigned char *digest) {
  SHA256_CTX copy = *(const SHA256_CTX *)state;
  SHA256_Final(digest, &copy);
}
