#pragma once
#include <stdbool.h>
#include <yaml.h>

#include "CYAML.h"

/// An anchor: the node it names, and what an alias to it adds to the document.
typedef struct {
  size_t name;
  uint32_t record;
  /// Nodes of the whole node, aliases expanded; 0 while it is still open.
  uint32_t expanded;
  /// Levels below and including it.
  uint32_t height;
} anchor;

/// Anchors by name, newest of each name only.
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
  /// Position in the anchor table, or `UINT32_MAX`.
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
  /// Bytes of a byte order mark, which libyaml does not get to see.
  size_t skipped;
  bool ascii_so_far;
  bool too_long;
  /// A character's number and its byte's offset: from here on characters are counted.
  size_t known_character, known_byte;
  /// Nodes so far, aliases expanded.
  uint64_t nodes;
  uint64_t alias_nodes;
  size_t text_capacity, text_byte_capacity;
  level levels[CYAML_MAX_DEPTH];
  uint32_t depth;
  anchor_table anchors;
  cyaml_document *document;
} reader;

/// Offset of the byte that begins the character `index`; indexes ask in rising order.
size_t reader_byte_offset(reader *reader, size_t index);

/// Makes room for one more item in a growing array; false when memory is out.
bool reader_reserve(void **items, size_t *capacity, size_t needed, size_t item_size);

/// Makes room for more records, at first for those of a manifest of `length` bytes; false when memory
/// is out. They are a mapping of their own, which grows without being copied.
bool records_grow(cyaml_document *document, size_t length);
void records_release(cyaml_document *document);

/// The position of a name's anchor, or `UINT32_MAX`.
uint32_t anchors_find(const anchor_table *table, const char *name);
/// Adds or replaces; `UINT32_MAX` when memory is out.
uint32_t anchors_set(anchor_table *table, const char *name, uint32_t record);
void anchors_release(anchor_table *table);
