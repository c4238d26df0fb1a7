#pragma once
#include <stdbool.h>
#include <yaml.h>

#include "CYAML.h"

/// An anchor: its node, and what an alias to it adds to the document.
typedef struct {
  size_t name;
  uint32_t record;
  /// The nodes in it with aliases expanded; 0 while the node is still open.
  uint32_t expanded;
  /// Its height in levels, including itself.
  uint32_t height;
} anchor;

/// Anchors by name; only the newest of each name.
typedef struct {
  anchor *items;
  size_t count, capacity;
  uint32_t *slots;
  size_t slot_count;
  char *names;
  size_t names_length, names_capacity;
  uint64_t seed;
} anchor_table;

/// An open collection.
typedef struct {
  uint32_t record;
  /// The index in the anchor table, or `UINT32_MAX`.
  uint32_t anchor;
  uint64_t nodes_before;
  uint32_t height;
} level;

typedef struct {
  yaml_parser_t parser;
  const uint8_t *bytes;
  size_t length;
  size_t fed;
  size_t fed_at_event;
  /// The size of a byte order mark, which libyaml does not see.
  size_t skipped;
  bool ascii_so_far;
  bool too_long;
  /// The last known character and its byte offset; counting continues from here.
  size_t known_character, known_byte;
  /// The number of nodes so far, with aliases expanded.
  uint64_t nodes;
  uint64_t alias_nodes;
  size_t text_capacity, text_byte_capacity;
  level levels[CYAML_MAX_DEPTH];
  uint32_t depth;
  anchor_table anchors;
  cyaml_document *document;
} reader;

/// Returns the byte offset of the character `index`. It is fast if `index` ascends.
size_t reader_byte_offset(reader *reader, size_t index);

/// Grows an array to at least `needed` items; returns false if memory runs out.
bool reader_reserve(void **items, size_t *capacity, size_t needed, size_t item_size);

/// Makes room for more records, at first for a manifest of `length` bytes; returns false if memory
/// runs out. Unless the table is tiny, it is a memory mapping, which grows without copying.
bool records_grow(cyaml_document *document, size_t length);
void records_release(cyaml_document *document);

/// Returns the index of a name's anchor, or `UINT32_MAX`.
uint32_t anchors_find(const anchor_table *table, const char *name);
/// Adds or replaces an anchor; returns `UINT32_MAX` if memory runs out.
uint32_t anchors_set(anchor_table *table, const char *name, uint32_t record);
void anchors_release(anchor_table *table);
