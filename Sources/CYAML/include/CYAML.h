#pragma once
#include <stddef.h>
#include <stdint.h>

/// Reads one YAML document with libyaml into a table of fixed-size records.
///
/// The table is the document in preorder. A record is a scalar, a mapping, a sequence or an alias;
/// the children of a collection follow it, and its value is the number of the record behind them,
/// so a reader walks or skips a node without building anything. Texts are not copied where they
/// stand in the input as they are: 8 bytes is all that most nodes take.

/// Bounds within which a document is read.
enum {
  CYAML_MAX_DEPTH = 64,
  CYAML_MAX_EXPANDED = 10 * 1000 * 1000,
  CYAML_MAX_RECORDS = 100 * 1000 * 1000,
  CYAML_MAX_SILENT_BYTES = 8 << 20,
  CYAML_MAX_PROBLEMS = 64,
};

/// Kinds of records.
enum { CYAML_SCALAR = 0, CYAML_MAPPING = 1, CYAML_SEQUENCE = 2, CYAML_ALIAS = 3 };

/// A node.
typedef struct {
  /// Offset of its first byte in the input.
  uint32_t start;
  /// Bits 0 and 1: the kind. Bit 2: a plain scalar, whose type its text decides; a collection in flow
  /// style. Bit 3: the text is one of `texts`, not in the input. Bit 4: the text begins behind a
  /// quotation mark. From bit 5 on the value. Scalar: the text's length, or the number of its own text.
  /// Collection: the number of the record behind its last one. Alias: that of the one it stands for.
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

/// What is wrong with a document that libyaml itself takes.
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
  /// No document: nothing but blanks and comments.
  CYAML_EMPTY,
  /// libyaml's own error; `problem` and `context` are its words.
  CYAML_SYNTAX,
  CYAML_NOT_UTF8,
  /// A character that YAML forbids; `character` is its number.
  CYAML_FORBIDDEN_CHARACTER,
  CYAML_SECOND_DOCUMENT,
  CYAML_TOO_DEEP,
  CYAML_TOO_EXPANDED,
  CYAML_TOO_MANY_RECORDS,
  /// More than `CYAML_MAX_SILENT_BYTES` belong to one value.
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
  /// Whether there is a `$` in it at all, and whether a `${{`.
  int32_t has_dollars;
  int32_t has_expressions;
  /// Whether there is a `{{` in the input, and nothing but ASCII.
  int32_t has_brace_pairs;
  int32_t is_ascii;
  /// Whether any of its scalars is the word `matrix`.
  int32_t has_matrix;
  uint32_t character;
  /// Where reading ended, when it ended early.
  size_t place;
  /// Where the construct began that could not be read; `SIZE_MAX` when libyaml does not say.
  size_t context_place;
  /// libyaml's words, static; null for none.
  const char *problem;
  const char *context;
} cyaml_document;

/// Reads `length` bytes (below 1 GiB) into `document`, which the caller releases in every case.
/// Returns `document->status`.
int32_t cyaml_read(const uint8_t *bytes, size_t length, cyaml_document *document);

/// Frees what `cyaml_read` allocated.
void cyaml_release(cyaml_document *document);

/// Whether `length` bytes are the same.
static inline int32_t cyaml_equal(const void *a, const void *b, size_t length) {
  return length == 0 || __builtin_memcmp(a, b, length) == 0;
}

/// Line feeds in `bytes`.
size_t cyaml_count_lines(const uint8_t *bytes, size_t length);

/// Characters in `bytes`, which are UTF-8: those that do not go on with one before.
size_t cyaml_count_characters(const uint8_t *bytes, size_t length);

/// The offset behind the last line feed, or 0.
size_t cyaml_line_start(const uint8_t *bytes, size_t length);

enum { CYAML_MENTIONS_VALUES = 1, CYAML_MENTIONS_NEEDS = 2 };

/// Which of the variables the text names that tell tasks where to leave values, and where to find those of
/// the tasks that they need.
int32_t cyaml_mentioned_folders(const uint8_t *bytes, size_t length);

/// The offset of the first such byte, or `length`.
size_t cyaml_find_byte(const uint8_t *bytes, size_t length, uint8_t byte);

/// The offset of the first `${{`, or `length`.
size_t cyaml_find_expression(const uint8_t *bytes, size_t length);
