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

int cyaml_mentions_values(const uint8_t *bytes, size_t length) {
  static const char name[] = "OPFLOW_VALUES";
  return length && memmem(bytes, length, name, sizeof name - 1) != NULL;
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
