// The lower limit for a download: `fetch URL FILE SHA256` writes the file with libcurl, hashes it
// at the same time and compares the hash.
#include <curl/curl.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER_BYTES = 256 * 1024, DIGEST_BYTES = 32 };

struct target {
  int file;
  EVP_MD_CTX *hash;
};

static size_t take(char *bytes, size_t size, size_t count, void *data) {
  struct target *target = data;
  size_t length = size * count;
  if (EVP_DigestUpdate(target->hash, bytes, length) != 1) return 0;
  for (size_t done = 0; done < length;) {
    ssize_t written = write(target->file, bytes + done, length - done);
    if (written < 0) return 0;
    done += (size_t)written;
  }
  return length;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  struct target target = {open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0644), EVP_MD_CTX_new()};
  CURL *curl = curl_easy_init();
  if (target.file < 0 || target.hash == NULL || curl == NULL) return 2;
  if (EVP_DigestInit_ex(target.hash, EVP_sha256(), NULL) != 1) return 2;
  curl_easy_setopt(curl, CURLOPT_URL, argv[1]);
  curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, (long)BUFFER_BYTES);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &target);
  if (curl_easy_perform(curl) != CURLE_OK || close(target.file) != 0) return 1;
  unsigned char digest[DIGEST_BYTES];
  char text[2 * DIGEST_BYTES + 1];
  if (EVP_DigestFinal_ex(target.hash, digest, NULL) != 1) return 1;
  for (int i = 0; i < DIGEST_BYTES; i++) sprintf(text + 2 * i, "%02x", digest[i]);
  return strcmp(text, argv[3]) != 0;
}
