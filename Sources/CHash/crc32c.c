#include "CHash.h"
#include <string.h>

// The polynomial 0x1EDC6F41, bits reflected.
static const uint32_t POLYNOMIAL = 0x82F63B78u;

static uint32_t crc_bitwise(uint32_t crc, const unsigned char *p, size_t n) {
  while (n--) {
    crc ^= *p++;
    for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (POLYNOMIAL & -(crc & 1));
  }
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2")))
static uint32_t crc_hardware(uint32_t crc, const unsigned char *p, size_t n) {
  uint64_t wide = crc;
  for (; n >= 8; n -= 8, p += 8) {
    uint64_t word;
    memcpy(&word, p, 8);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  crc = (uint32_t)wide;
  for (; n > 0; n--) crc = __builtin_ia32_crc32qi(crc, *p++);
  return crc;
}

static int hardware_available(void) {
  static int known = -1;
  if (known < 0) {
    __builtin_cpu_init();
    known = __builtin_cpu_supports("sse4.2") ? 1 : 0;
  }
  return known;
}
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
static uint32_t crc_hardware(uint32_t crc, const unsigned char *p, size_t n) {
  for (; n >= 8; n -= 8, p += 8) {
    uint64_t word;
    memcpy(&word, p, 8);
    crc = __crc32cd(crc, word);
  }
  for (; n > 0; n--) crc = __crc32cb(crc, *p++);
  return crc;
}
static int hardware_available(void) { return 1; }
#else
static uint32_t crc_hardware(uint32_t crc, const unsigned char *p, size_t n) {
  return crc_bitwise(crc, p, n);
}
static int hardware_available(void) { return 0; }
#endif

uint32_t chash_crc32c(uint32_t crc, const void *bytes, size_t length) {
  crc = ~crc;
  crc = hardware_available() ? crc_hardware(crc, bytes, length) : crc_bitwise(crc, bytes, length);
  return ~crc;
}
