#include "CHash.h"
#include <string.h>

// The polynomial 0x1EDC6F41, bit-reflected.
static const uint32_t POLYNOMIAL = 0x82F63B78u;

static uint32_t crc_bitwise(uint32_t crc, const unsigned char *p, size_t n) {
  while (n--) {
    crc ^= *p++;
    for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (POLYNOMIAL & -(crc & 1));
  }
  return crc;
}

static chash_line line_bitwise(const unsigned char *p, size_t n) {
  const unsigned char *feed = n ? memchr(p, '\n', n) : NULL;
  if (feed) n = (size_t)(feed - p);
  return (chash_line){n, ~crc_bitwise(~0u, p, n)};
}

// Uses the processor's CRC instruction, eight bytes at a time. This dependency chain determines the
// speed, so it contains nothing else and no branch on the length of a line.
#if defined(__x86_64__)
#include <emmintrin.h>
#define HARDWARE 1
typedef uint64_t crc_register;
#define TARGET __attribute__((target("sse4.2")))
#define CRC_64 __builtin_ia32_crc32di
#define CRC_8 __builtin_ia32_crc32qi

static int known;
__attribute__((constructor)) static void look_at_processor(void) {
  __builtin_cpu_init();
  known = __builtin_cpu_supports("sse4.2") != 0;
}
static int hardware_available(void) { return known; }
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#define HARDWARE 1
typedef uint32_t crc_register;
#define TARGET
#define CRC_64 __crc32cd
#define CRC_8 __crc32cb

static int hardware_available(void) { return 1; }
#endif

#ifdef HARDWARE
#define LOAD(type, p) ({ type loaded; memcpy(&loaded, (p), sizeof loaded); loaded; })

// The CRC of the first n bytes of a word, n < 8. Leading zeros leave a zero register unchanged, so
// the text can be padded with them; for n < 4 a part of the register remains.
TARGET static inline crc_register crc_part(crc_register chain, uint64_t word, unsigned n) {
  uint64_t text = (word ^ chain) << (63 - 8 * n) << 1;
  return CRC_64(0, text) ^ (crc_register)((uint64_t)chain >> 8 * n);
}

TARGET __attribute__((noinline))
static uint32_t crc_hardware(uint32_t crc, const unsigned char *p, size_t n) {
  crc_register chain = crc;
  if (n < 8) {
    while (n--) chain = CRC_8((uint32_t)chain, *p++);
    return (uint32_t)chain;
  }
  for (; n >= 8; n -= 8, p += 8) chain = CRC_64(chain, LOAD(uint64_t, p));
  uint64_t last = LOAD(uint64_t, p + n - 8);
  return (uint32_t)crc_part(chain, last >> (63 - 8 * n) >> 1, (unsigned)n);
}

// Returns a mask of the newlines in BLOCK bytes, BITS bits for each byte; only the lowest one is
// reliable.
#if defined(__x86_64__)
#define BLOCK 16u
#define BITS 1u
TARGET static inline uint64_t feeds(const unsigned char *p) {
  __m128i block = _mm_loadu_si128((const __m128i *)p);
  return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(block, _mm_set1_epi8('\n')));
}
#else
#define BLOCK 8u
#define BITS 8u
static inline uint64_t feeds(const unsigned char *p) {
  const uint64_t ones = 0x0101010101010101u;
  uint64_t difference = LOAD(uint64_t, p) ^ ones * '\n';
  return (difference - ones) & ~difference & ones << 7;
}
#endif

// The last bytes, fewer than a block, after `done` others.
TARGET __attribute__((noinline))
static chash_line line_at_end(size_t done, crc_register chain, const unsigned char *p, size_t n) {
  const unsigned char *feed = n ? memchr(p, '\n', n) : NULL;
  if (feed) n = (size_t)(feed - p);
  return (chash_line){done + n, ~crc_hardware((uint32_t)chain, p, n)};
}

TARGET static chash_line line_hardware(const unsigned char *bytes, size_t n) {
  crc_register chain = ~0u;
  if (n < BLOCK) return line_at_end(0, chain, bytes, n);
  const unsigned char *p = bytes;
  for (const unsigned char *last = bytes + n - BLOCK; p <= last; p += BLOCK) {
    uint64_t hits = feeds(p);
    // Loading the bytes again is faster than moving them out of the vector registers.
    __asm__("" : "+r"(p));
    if (hits) {
      unsigned feed = (unsigned)__builtin_ctzll(hits) / BITS;
      crc_register more = CRC_64(chain, LOAD(uint64_t, p));
      if (feed & 8) chain = more;
      chain = crc_part(chain, LOAD(uint64_t, p + (feed & 8)), feed & 7);
      return (chash_line){(size_t)(p - bytes) + feed, ~(uint32_t)chain};
    }
    for (unsigned at = 0; at < BLOCK; at += 8) chain = CRC_64(chain, LOAD(uint64_t, p + at));
  }
  size_t done = (size_t)(p - bytes);
  return line_at_end(done, chain, p, n - done);
}
#else
static uint32_t crc_hardware(uint32_t crc, const unsigned char *p, size_t n) {
  return crc_bitwise(crc, p, n);
}
static chash_line line_hardware(const unsigned char *p, size_t n) { return line_bitwise(p, n); }
static int hardware_available(void) { return 0; }
#endif

uint32_t chash_crc32c(uint32_t crc, const void *bytes, size_t length) {
  crc = ~crc;
  crc = hardware_available() ? crc_hardware(crc, bytes, length) : crc_bitwise(crc, bytes, length);
  return ~crc;
}

chash_line chash_crc32c_line(const void *bytes, size_t length) {
  return hardware_available() ? line_hardware(bytes, length) : line_bitwise(bytes, length);
}
