// The lower limits for the journal. `journal append COUNT FILE` writes lines of about 140 bytes
// with checksums, 64 lines per write. `journal replay FILE` reads them, verifies each checksum and
// parses the sequence number. Both use the checksum code of opflow, and print CPU and wall time in
// microseconds and the largest resident set in KiB.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "CHash.h"
#include "cost.h"

static char *number(char *at, uint64_t value) {
  char digits[20];
  int count = 0;
  do digits[count++] = (char)('0' + value % 10);
  while (value /= 10);
  while (count) *at++ = digits[--count];
  return at;
}

static char *text(char *at, const char *words, size_t length) {
  memcpy(at, words, length);
  return at + length;
}
#define TEXT(at, words) text(at, words, sizeof words - 1)

static int append(long count, const char *path) {
  static char block[64 * 256];
  static const char hex[] = "0123456789abcdef";
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
  if (file < 0) return 2;
  char *at = block;
  for (long i = 1; i <= count; i++) {
    char *line = at;
    at = number(line + 9, (uint64_t)i);
    *at++ = '\t';
    at = number(at, 1700000000000 + (uint64_t)i);
    at = TEXT(at, "\tsuccess\ttask-");
    at = number(at, (uint64_t)i);
    at = TEXT(at, "\tattempt=1\texit=0\twall=1000\tuser=500\tsys=400\trss=2048\tout=0"
                  "\tfp=0123456789abcdef");
    uint32_t crc = chash_crc32c(0, line + 9, (size_t)(at - line - 9));
    for (int digit = 7; digit >= 0; digit--, crc >>= 4) line[digit] = hex[crc & 15];
    line[8] = '\t';
    *at++ = '\n';
    if (i % 64 == 0 || i == count) {
      if (write(file, block, (size_t)(at - block)) != at - block) return 2;
      at = block;
    }
  }
  return close(file) ? 2 : 0;
}

static int replay(const char *path) {
  int file = open(path, O_RDONLY);
  struct stat info;
  if (file < 0 || fstat(file, &info) != 0) return 2;
  size_t size = (size_t)info.st_size;
  const char *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
  if (bytes == MAP_FAILED) return 2;
  uint64_t expected = 1;
  for (const char *at = bytes, *end = bytes + size; at < end; expected++) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    if (!stop) return 1;
    uint32_t crc = 0;
    for (int digit = 0; digit < 8; digit++)
      crc = crc << 4 | (uint32_t)(at[digit] <= '9' ? at[digit] - '0' : at[digit] - 'a' + 10);
    if (crc != chash_crc32c(0, at + 9, (size_t)(stop - at - 9))) return 1;
    uint64_t sequence = 0;
    for (const char *digit = at + 9; *digit != '\t'; digit++)
      sequence = sequence * 10 + (uint64_t)(*digit - '0');
    if (sequence != expected) return 1;
    at = stop + 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  struct timespec from;
  clock_gettime(CLOCK_MONOTONIC, &from);
  int status = 2;
  if (argc == 4 && !strcmp(argv[1], "append")) status = append(atol(argv[2]), argv[3]);
  if (argc == 3 && !strcmp(argv[1], "replay")) status = replay(argv[2]);
  if (status) return status;
  print_cost(RUSAGE_SELF, from);
  return 0;
}
