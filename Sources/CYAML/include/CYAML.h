#pragma once
#include <stddef.h>
#include <stdint.h>

/// Reads one YAML document with libyaml into a table of fixed-size records.
///
/// The table is the document in preorder. A record is a scalar, a mapping, a sequence or an alias.
/// The children of a collection follow it, and its value is the number of the record behind them,
/// so a reader can walk or skip a node without building anything. Text that is in the input
/// unchanged is not copied. Most nodes take only 8 bytes.

/// Limits on a document.
enum {
  CYAML_MAX_DEPTH = 64,
  CYAML_MAX_EXPANDED = 10 * 1000 * 1000,
  CYAML_MAX_RECORDS = 100 * 1000 * 1000,
  CYAML_MAX_SILENT_BYTES = 8 << 20,
  CYAML_MAX_PROBLEMS = 64,
};

/// Kinds of records.
enum { CYAML_SCALAR = 0, CYAML_MAPPING = 1, CYAML_SEQUENCE = 2, CYAML_ALIAS = 3 };

/// A node of the document.
typedef struct {
  /// The offset of its first byte in the input.
  uint32_t start;
  /// Bits 0 and 1: the kind. Bit 2: a plain scalar, whose text decides its type, or a collection in
  /// flow style. Bit 3: the text is in `texts`, not in the input. Bit 4: the text starts behind a
  /// quotation mark. From bit 5 on: the value. It is a scalar's text length or its index in
  /// `texts`, the number of the record behind a collection, or the number of an alias's target.
  uint32_t bits;
} cyaml_record;

enum {
  CYAML_PLAIN = 1 << 2,
  CYAML_FLOW = 1 << 2,
  CYAML_OWN_TEXT = 1 << 3,
  CYAML_QUOTED = 1 << 4,
  CYAML_VALUE_SHIFT = 5,
};

/// A text that libyaml had to decode, within `text_bytes`.
typedef struct {
  uint32_t offset;
  uint32_t length;
} cyaml_text;

/// Errors that libyaml accepts.
enum {
  CYAML_UNKNOWN_ALIAS = 1,
  CYAML_RECURSIVE_ALIAS = 2,
  CYAML_UNKNOWN_TAG = 3,
  CYAML_NUL_IN_TEXT = 4,
};

typedef struct {
  uint32_t kind;
  uint32_t start;
} cyaml_problem;

/// How reading ended.
enum {
  CYAML_OK = 0,
  /// No document: only whitespace and comments.
  CYAML_EMPTY,
  /// An error of libyaml, described by `problem` and `context`.
  CYAML_SYNTAX,
  CYAML_NOT_UTF8,
  /// A character that YAML forbids; `character` is its code point.
  CYAML_FORBIDDEN_CHARACTER,
  CYAML_SECOND_DOCUMENT,
  CYAML_TOO_DEEP,
  CYAML_TOO_EXPANDED,
  CYAML_TOO_MANY_RECORDS,
  /// One value has more than `CYAML_MAX_SILENT_BYTES`.
  CYAML_TOO_LONG,
  CYAML_TOO_MANY_DIRECTIVES,
  CYAML_LONG_DIRECTIVE,
  CYAML_OUT_OF_MEMORY,
};

typedef struct {
  cyaml_record *records;
  cyaml_text *texts;
  uint8_t *text_bytes;
  size_t record_count;
  size_t record_capacity;
  size_t text_count;
  size_t text_length;
  cyaml_problem problems[CYAML_MAX_PROBLEMS];
  size_t problem_count;
  int32_t status;
  /// Whether any text has a `$`, and a `${{`.
  int32_t has_dollars;
  int32_t has_expressions;
  /// Whether the input has a `{{`, and only ASCII.
  int32_t has_brace_pairs;
  int32_t is_ascii;
  /// Whether any scalar is the word `matrix`.
  int32_t has_matrix;
  uint32_t character;
  /// The offset where the reader stopped early.
  size_t place;
  /// The start of the construct that libyaml was reading; `SIZE_MAX` if unknown.
  size_t context_place;
  /// Static messages of libyaml, or null.
  const char *problem;
  const char *context;
} cyaml_document;

/// Reads `length` bytes (below 1 GiB) into `document`, which the caller must always release.
/// Returns `document->status`.
int32_t cyaml_read(const uint8_t *bytes, size_t length, cyaml_document *document);

/// Frees what `cyaml_read` allocated.
void cyaml_release(cyaml_document *document);

/// Whether both have the same `length` bytes.
static inline int32_t cyaml_equal(const void *a, const void *b, size_t length) {
  return length == 0 || __builtin_memcmp(a, b, length) == 0;
}

/// Returns the number of line feeds.
size_t cyaml_count_lines(const uint8_t *bytes, size_t length);

/// Returns the number of UTF-8 characters, without counting continuation bytes.
size_t cyaml_count_characters(const uint8_t *bytes, size_t length);

/// Returns the offset behind the last line feed, or 0.
size_t cyaml_line_start(const uint8_t *bytes, size_t length);

enum { CYAML_MENTIONS_VALUES = 1, CYAML_MENTIONS_NEEDS = 2 };

/// Returns which of the variables `OPFLOW_VALUES` and `OPFLOW_NEEDS` the text mentions: the folders
/// for a task's own values and for those of the tasks that it needs.
int32_t cyaml_mentioned_folders(const uint8_t *bytes, size_t length);

/// Returns the offset of the first such byte, or `length`.
size_t cyaml_find_byte(const uint8_t *bytes, size_t length, uint8_t byte);

/// Returns the offset of the first `${{`, or `length`.
size_t cyaml_find_expression(const uint8_t *bytes, size_t length);
