#define _GNU_SOURCE
#include <string.h>

#include "CYAML.h"

size_t cyaml_count_lines(const uint8_t *bytes, size_t length) {
  size_t lines = 0;
  for (size_t index = 0; index < length; index++) lines += bytes[index] == '\n';
  return lines;
}

size_t cyaml_count_characters(const uint8_t *bytes, size_t length) {
  size_t characters = 0;
  for (size_t index = 0; index < length; index++) characters += (bytes[index] & 0xc0) != 0x80;
  return characters;
}

size_t cyaml_line_start(const uint8_t *bytes, size_t length) {
  const uint8_t *last = length ? memrchr(bytes, '\n', length) : NULL;
  return last ? (size_t)(last - bytes) + 1 : 0;
}

int32_t cyaml_mentioned_folders(const uint8_t *bytes, size_t length) {
  static const char prefix[] = "OPFLOW_", values[] = "VALUES", needs[] = "NEEDS";
  int32_t found = 0;
  while (length >= sizeof prefix) {
    const uint8_t *at = memmem(bytes, length, prefix, sizeof prefix - 1);
    if (!at) break;
    at += sizeof prefix - 1;
    length -= (size_t)(at - bytes);
    bytes = at;
    if (length >= sizeof values - 1 && !memcmp(at, values, sizeof values - 1)) {
      found |= CYAML_MENTIONS_VALUES;
    } else if (length >= sizeof needs - 1 && !memcmp(at, needs, sizeof needs - 1)) {
      found |= CYAML_MENTIONS_NEEDS;
    }
  }
  return found;
}

size_t cyaml_find_byte(const uint8_t *bytes, size_t length, uint8_t byte) {
  const uint8_t *at = length ? memchr(bytes, byte, length) : NULL;
  return at ? (size_t)(at - bytes) : length;
}

size_t cyaml_find_expression(const uint8_t *bytes, size_t length) {
  const uint8_t *end = bytes + length;
  const uint8_t *at = bytes;
  while (end - at >= 3) {
    at = memchr(at, '$', (size_t)(end - at) - 2);
    if (!at) return length;
    if (at[1] == '{' && at[2] == '{') return (size_t)(at - bytes);
    at++;
  }
  return length;
}
