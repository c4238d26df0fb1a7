#include "ctransfer_hash.h"
#include <openssl/evp.h>
#include <stdlib.h>

struct ctransfer_hash {
  const EVP_MD *algorithm;
  EVP_MD_CTX *context;
  EVP_MD_CTX *copy;
};

// Cached, because EVP_sha256() makes each hash look the algorithm up, which costs as much as
// hashing a kilobyte. Only one thread of the process hashes.
static const EVP_MD *algorithm(int32_t bits) {
  static EVP_MD *known[2];
  EVP_MD **place = &known[bits == 512];
  if (*place == NULL) *place = EVP_MD_fetch(NULL, bits == 512 ? "SHA512" : "SHA256", NULL);
  return *place;
}

struct ctransfer_hash *ctransfer_hash_create(int32_t bits) {
  struct ctransfer_hash *hash = calloc(1, sizeof *hash);
  if (hash == NULL) return NULL;
  hash->algorithm = algorithm(bits);
  hash->context = EVP_MD_CTX_new();
  hash->copy = EVP_MD_CTX_new();
  if (hash->algorithm == NULL || hash->context == NULL || hash->copy == NULL ||
      ctransfer_hash_reset(hash) < 0) {
    ctransfer_hash_free(hash);
    return NULL;
  }
  return hash;
}

void ctransfer_hash_free(struct ctransfer_hash *hash) {
  if (hash == NULL) return;
  EVP_MD_CTX_free(hash->context);
  EVP_MD_CTX_free(hash->copy);
  free(hash);
}

int32_t ctransfer_hash_reset(struct ctransfer_hash *hash) {
  return EVP_DigestInit_ex(hash->context, hash->algorithm, NULL) == 1 ? 0 : -1;
}

int32_t ctransfer_hash_update(struct ctransfer_hash *hash, const void *bytes, size_t count) {
  return EVP_DigestUpdate(hash->context, bytes, count) == 1 ? 0 : -1;
}

int32_t ctransfer_hash_result(struct ctransfer_hash *hash, uint8_t *result) {
  unsigned int length = 0;
  if (EVP_MD_CTX_copy_ex(hash->copy, hash->context) != 1) return -1;
  if (EVP_DigestFinal_ex(hash->copy, result, &length) != 1) return -1;
  return (int32_t)length;
}
