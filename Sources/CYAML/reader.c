#include "reader.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DIRECTIVES = 100, MAX_DIRECTIVE_BYTES = 1000 };

// A record's value holds record numbers, text numbers and text lengths.
_Static_assert(CYAML_MAX_RECORDS < UINT32_MAX >> CYAML_VALUE_SHIFT, "records fit");
_Static_assert(2 * CYAML_MAX_SILENT_BYTES < UINT32_MAX >> CYAML_VALUE_SHIFT, "lengths fit");

bool reader_reserve(void **items, size_t *capacity, size_t needed, size_t item_size) {
  if (needed <= *capacity) return true;
  size_t wanted = *capacity ? *capacity * 2 : 1024;
  while (wanted < needed) wanted *= 2;
  void *grown = realloc(*items, wanted * item_size);
  if (!grown) return false;
  *items = grown;
  *capacity = wanted;
  return true;
}

static bool is_continuation(uint8_t byte) { return (byte & 0xc0) == 0x80; }

size_t reader_byte_offset(reader *reader, size_t index) {
  size_t byte = reader->known_byte;
  if (reader->ascii_so_far) {
    byte = reader->skipped + index;
  } else {
    size_t character = reader->known_character;
    for (; character < index && byte < reader->length; character++) {
      for (byte++; byte < reader->length && is_continuation(reader->bytes[byte]);) byte++;
    }
    for (; character > index && byte > reader->skipped; character--) {
      for (byte--; byte > reader->skipped && is_continuation(reader->bytes[byte]);) byte--;
    }
  }
  reader->known_character = index;
  reader->known_byte = byte;
  return byte;
}

// Scans all bytes without branches, so that the compiler can vectorize the loop.
static void note_bytes(reader *reader, const uint8_t *bytes, size_t length) {
  uint8_t all = length ? bytes[0] : 0;
  uint8_t pairs = 0;
  for (size_t index = 1; index < length; index++) {
    all |= bytes[index];
    pairs |= (bytes[index - 1] == '{') & (bytes[index] == '{');
  }
  if (all >= 0x80) reader->ascii_so_far = false;
  if (pairs) reader->document->has_brace_pairs = 1;
}

// Searches bytes of texts for `$` and `${{`. One search over all is faster than one per text.
static void note_dollars(reader *reader, const uint8_t *bytes, size_t length) {
  cyaml_document *document = reader->document;
  if (!document->has_dollars) {
    document->has_dollars = cyaml_find_byte(bytes, length, '$') < length;
  }
  if (document->has_dollars && !document->has_expressions) {
    document->has_expressions = cyaml_find_expression(bytes, length) < length;
  }
}

// The read handler of libyaml. It rejects an endless value before libyaml collects it.
static int feed(void *data, unsigned char *buffer, size_t size, size_t *size_read) {
  reader *reader = data;
  if (reader->fed - reader->fed_at_event > CYAML_MAX_SILENT_BYTES) {
    reader->too_long = true;
    return 0;
  }
  size_t left = reader->length - reader->fed;
  if (size > left) size = left;
  const uint8_t *from = reader->bytes + reader->fed;
  memcpy(buffer, from, size);
  // An expression may start in the last two bytes of the previous chunk, a pair in the last one.
  size_t before = reader->fed < 2 ? reader->fed : 2;
  note_bytes(reader, from - before, size + before);
  note_dollars(reader, from - before, size + before);
  reader->fed += size;
  *size_read = size;
  return 1;
}

static int32_t fail(reader *reader, int32_t status, size_t place) {
  reader->document->status = status;
  reader->document->place = place;
  return status;
}

static void add_problem(reader *reader, uint32_t kind, uint32_t start) {
  cyaml_document *document = reader->document;
  if (document->problem_count == CYAML_MAX_PROBLEMS) return;
  document->problems[document->problem_count++] = (cyaml_problem){.kind = kind, .start = start};
}

// Starts a node: checks the limits and adds its record.
static cyaml_record *add_record(reader *reader, const yaml_event_t *event) {
  cyaml_document *document = reader->document;
  size_t start = reader_byte_offset(reader, event->start_mark.index);
  if (document->record_count >= CYAML_MAX_RECORDS) {
    fail(reader, CYAML_TOO_MANY_RECORDS, start);
    return NULL;
  }
  if (document->record_count == document->record_capacity &&
      !records_grow(document, reader->length)) {
    fail(reader, CYAML_OUT_OF_MEMORY, start);
    return NULL;
  }
  cyaml_record *record = &document->records[document->record_count++];
  record->start = (uint32_t)start;
  reader->nodes++;
  return record;
}

static bool begin_anchor(reader *reader, const yaml_char_t *name, uint32_t *position) {
  *position = UINT32_MAX;
  if (!name) return true;
  *position = anchors_set(&reader->anchors, (const char *)name,
                          (uint32_t)(reader->document->record_count - 1));
  if (*position != UINT32_MAX) return true;
  fail(reader, CYAML_OUT_OF_MEMORY, reader->known_byte);
  return false;
}

static void end_anchor(reader *reader, uint32_t position, uint32_t record, uint64_t expanded,
                       uint32_t height) {
  if (position == UINT32_MAX) return;
  anchor *anchor = &reader->anchors.items[position];
  // A node inside may have taken over the name.
  if (anchor->record != record) return;
  anchor->expanded = expanded > UINT32_MAX ? UINT32_MAX : (uint32_t)expanded;
  anchor->height = height;
}

// Records a child's height in its collection; returns false if it is too deep.
static bool note_height(reader *reader, uint32_t height, size_t place) {
  if (reader->depth + height > CYAML_MAX_DEPTH + 1) {
    fail(reader, CYAML_TOO_DEEP, place);
    return false;
  }
  if (reader->depth > 0) {
    level *parent = &reader->levels[reader->depth - 1];
    if (parent->height < height + 1) parent->height = height + 1;
  }
  return true;
}

static bool is_core_tag(const char *tag, const char *name) {
  static const char prefix[] = "tag:yaml.org,2002:";
  return strncmp(tag, prefix, sizeof prefix - 1) == 0 && strcmp(tag + sizeof prefix - 1, name) == 0;
}

static bool is_plain(reader *reader, const yaml_event_t *event, uint32_t start) {
  const char *tag = (const char *)event->data.scalar.tag;
  if (!tag) return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
  if (strcmp(tag, "!") == 0 || is_core_tag(tag, "str")) return false;
  if (is_core_tag(tag, "int") || is_core_tag(tag, "float") || is_core_tag(tag, "bool") ||
      is_core_tag(tag, "null")) {
    return true;
  }
  add_problem(reader, CYAML_UNKNOWN_TAG, start);
  return false;
}

// Whether the text of a scalar is in the input unchanged.
static bool stands_in_input(const reader *reader, const yaml_event_t *event, size_t place) {
  size_t length = event->data.scalar.length;
  if (length > reader->length || place > reader->length - length) return false;
  // This is always true for an ASCII plain scalar on one line without anchor and tag.
  if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && reader->ascii_so_far &&
      event->start_mark.line == event->end_mark.line &&
      event->end_mark.index - event->start_mark.index == length) {
    return true;
  }
  return memcmp(reader->bytes + place, event->data.scalar.value, length) == 0;
}

// Stores a text that is not in the input unchanged.
static bool add_text(reader *reader, const uint8_t *text, size_t length) {
  cyaml_document *document = reader->document;
  if (!reader_reserve((void **)&document->text_bytes, &reader->text_byte_capacity,
                      document->text_length + length, 1) ||
      !reader_reserve((void **)&document->texts, &reader->text_capacity, document->text_count + 1,
                      sizeof *document->texts)) {
    return false;
  }
  memcpy(document->text_bytes + document->text_length, text, length);
  note_dollars(reader, text, length);
  document->texts[document->text_count++] =
      (cyaml_text){.offset = (uint32_t)document->text_length, .length = (uint32_t)length};
  document->text_length += length;
  return true;
}

static bool add_scalar(reader *reader, const yaml_event_t *event) {
  cyaml_record *record = add_record(reader, event);
  if (!record) return false;
  cyaml_document *document = reader->document;
  const uint8_t *text = event->data.scalar.value;
  size_t length = event->data.scalar.length;
  uint32_t start = record->start;
  uint32_t number = (uint32_t)(document->record_count - 1);

  if (length == 6 && memcmp(text, "matrix", 6) == 0) document->has_matrix = 1;
  record->bits = CYAML_SCALAR;
  if (is_plain(reader, event, start)) record->bits |= CYAML_PLAIN;
  bool quoted = event->data.scalar.style == YAML_SINGLE_QUOTED_SCALAR_STYLE ||
                event->data.scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;
  if (stands_in_input(reader, event, start + quoted)) {
    if (quoted) record->bits |= CYAML_QUOTED;
    record->bits |= (uint32_t)length << CYAML_VALUE_SHIFT;
  } else {
    record->bits |= CYAML_OWN_TEXT | (uint32_t)document->text_count << CYAML_VALUE_SHIFT;
    if (!add_text(reader, text, length)) {
      fail(reader, CYAML_OUT_OF_MEMORY, start);
      return false;
    }
    if (memchr(text, 0, length)) add_problem(reader, CYAML_NUL_IN_TEXT, start);
  }
  if (!note_height(reader, 1, start)) return false;
  if (event->data.scalar.anchor) {
    uint32_t anchor;
    if (!begin_anchor(reader, event->data.scalar.anchor, &anchor)) return false;
    end_anchor(reader, anchor, number, 1, 1);
  }
  return true;
}

static bool begin_collection(reader *reader, const yaml_event_t *event, uint32_t kind,
                             const char *tag, const char *core_tag, const yaml_char_t *name,
                             bool flow) {
  cyaml_record *record = add_record(reader, event);
  if (!record) return false;
  uint32_t start = record->start;
  record->bits = kind | (flow ? (uint32_t)CYAML_FLOW : 0);
  if (tag && strcmp(tag, "!") != 0 && !is_core_tag(tag, core_tag)) {
    add_problem(reader, CYAML_UNKNOWN_TAG, start);
  }
  if (reader->depth == CYAML_MAX_DEPTH) {
    fail(reader, CYAML_TOO_DEEP, start);
    return false;
  }
  level *level = &reader->levels[reader->depth++];
  level->record = (uint32_t)(reader->document->record_count - 1);
  level->nodes_before = reader->nodes - 1;
  level->height = 1;
  return begin_anchor(reader, name, &level->anchor);
}

static bool end_collection(reader *reader) {
  level *level = &reader->levels[--reader->depth];
  cyaml_document *document = reader->document;
  document->records[level->record].bits |= (uint32_t)document->record_count << CYAML_VALUE_SHIFT;
  end_anchor(reader, level->anchor, level->record, reader->nodes - level->nodes_before,
             level->height);
  return note_height(reader, level->height, document->records[level->record].start);
}

static bool add_alias(reader *reader, const yaml_event_t *event) {
  cyaml_record *record = add_record(reader, event);
  if (!record) return false;
  uint32_t start = record->start;
  uint32_t found = anchors_find(&reader->anchors, (const char *)event->data.alias.anchor);
  // A plain empty scalar replaces an alias without a target.
  record->bits = CYAML_SCALAR | CYAML_PLAIN;
  if (found == UINT32_MAX) {
    add_problem(reader, CYAML_UNKNOWN_ALIAS, start);
    return true;
  }
  const anchor *anchor = &reader->anchors.items[found];
  if (anchor->expanded == 0) {
    add_problem(reader, CYAML_RECURSIVE_ALIAS, start);
    return true;
  }
  record->bits = CYAML_ALIAS | anchor->record << CYAML_VALUE_SHIFT;
  // The alias itself is already counted.
  reader->nodes += anchor->expanded - 1;
  reader->alias_nodes += anchor->expanded;
  if (reader->alias_nodes > CYAML_MAX_EXPANDED) {
    fail(reader, CYAML_TOO_EXPANDED, start);
    return false;
  }
  return note_height(reader, anchor->height, start);
}

// Returns the length of the line break at `at` (LF, CR, NEL, LS or PS, as in libyaml), or 0.
static size_t line_break(const uint8_t *bytes, size_t length, size_t at) {
  size_t left = length - at;
  if (bytes[at] == '\n' || bytes[at] == '\r') return 1;
  if (left >= 2 && bytes[at] == 0xc2 && bytes[at + 1] == 0x85) return 2;
  if (left >= 3 && bytes[at] == 0xe2 && bytes[at + 1] == 0x80 && (bytes[at + 2] | 1) == 0xa9) {
    return 3;
  }
  return 0;
}

// libyaml compares each `%TAG` with all earlier ones and copies its expansion into each tag that
// uses it. This limits both for the directives that start at `at`.
static bool directives_are_bounded(reader *reader, size_t at) {
  const uint8_t *bytes = reader->bytes;
  size_t directives = 0;
  while (at < reader->length) {
    bool is_directive = bytes[at] == '%';
    if (is_directive && ++directives > MAX_DIRECTIVES) {
      fail(reader, CYAML_TOO_MANY_DIRECTIVES, at);
      return false;
    }
    // The directives end at any other line.
    if (!is_directive && bytes[at] != '#' && bytes[at] != ' ' && bytes[at] != '\t' &&
        line_break(bytes, reader->length, at) == 0) {
      return true;
    }
    size_t start = at;
    size_t step = 0;
    while (at < reader->length && !(step = line_break(bytes, reader->length, at))) at++;
    if (is_directive && at - start > MAX_DIRECTIVE_BYTES) {
      fail(reader, CYAML_LONG_DIRECTIVE, start);
      return false;
    }
    at += step;
  }
  return true;
}

// Handles one event; returns false if reading ends.
static bool take(reader *reader, const yaml_event_t *event, bool *document_seen) {
  switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
      if (*document_seen) {
        fail(reader, CYAML_SECOND_DOCUMENT,
             reader_byte_offset(reader, event->start_mark.index));
        return false;
      }
      *document_seen = true;
      return true;
    case YAML_SCALAR_EVENT:
      return add_scalar(reader, event);
    case YAML_MAPPING_START_EVENT:
      return begin_collection(reader, event, CYAML_MAPPING,
                              (const char *)event->data.mapping_start.tag, "map",
                              event->data.mapping_start.anchor,
                              event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE);
    case YAML_SEQUENCE_START_EVENT:
      return begin_collection(reader, event, CYAML_SEQUENCE,
                              (const char *)event->data.sequence_start.tag, "seq",
                              event->data.sequence_start.anchor,
                              event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
      return end_collection(reader);
    case YAML_ALIAS_EVENT:
      return add_alias(reader, event);
    case YAML_DOCUMENT_END_EVENT:
      // libyaml reads the directives before it reports a second document.
      return directives_are_bounded(reader, reader_byte_offset(reader, event->end_mark.index));
    case YAML_STREAM_END_EVENT:
      reader->document->status = *document_seen ? CYAML_OK : CYAML_EMPTY;
      return false;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
      return true;
  }
  return true;
}

// Returns a character's byte offset, counted from the start.
static size_t offset_from_start(reader *reader, size_t index) {
  reader->known_character = 0;
  reader->known_byte = reader->skipped;
  return reader_byte_offset(reader, index);
}

static void parser_failed(reader *reader) {
  const yaml_parser_t *parser = &reader->parser;
  cyaml_document *document = reader->document;
  if (reader->too_long) {
    fail(reader, CYAML_TOO_LONG, reader->known_byte);
    return;
  }
  switch (parser->error) {
    case YAML_READER_ERROR:
      document->character = parser->problem_value < 0 ? 0 : (uint32_t)parser->problem_value;
      fail(reader,
           strcmp(parser->problem, "control characters are not allowed") == 0
               ? CYAML_FORBIDDEN_CHARACTER
               : CYAML_NOT_UTF8,
           reader->skipped + parser->problem_offset);
      return;
    case YAML_SCANNER_ERROR:
    case YAML_PARSER_ERROR:
      document->problem = parser->problem;
      document->context = parser->context;
      if (parser->context) {
        document->context_place = offset_from_start(reader, parser->context_mark.index);
      }
      fail(reader, CYAML_SYNTAX, offset_from_start(reader, parser->problem_mark.index));
      return;
    case YAML_NO_ERROR:
    case YAML_MEMORY_ERROR:
    case YAML_COMPOSER_ERROR:
    case YAML_WRITER_ERROR:
    case YAML_EMITTER_ERROR:
      fail(reader, CYAML_OUT_OF_MEMORY, reader->known_byte);
      return;
  }
}

// Like yaml_event_delete, which took a fortieth of the time of a check: it looks for three texts
// per event and overwrites all of it. Most events have one text, from libyaml's malloc(3), or none.
static void release(yaml_event_t *event) {
  switch (event->type) {
    case YAML_SCALAR_EVENT:
      if (event->data.scalar.anchor || event->data.scalar.tag) break;
      free(event->data.scalar.value);
      return;
    case YAML_MAPPING_START_EVENT:
      if (event->data.mapping_start.anchor || event->data.mapping_start.tag) break;
      return;
    case YAML_SEQUENCE_START_EVENT:
      if (event->data.sequence_start.anchor || event->data.sequence_start.tag) break;
      return;
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
      return;
    default:
      break;
  }
  yaml_event_delete(event);
}

int32_t cyaml_read(const uint8_t *bytes, size_t length, cyaml_document *document) {
  memset(document, 0, sizeof *document);
  document->context_place = SIZE_MAX;
  reader reader = {.bytes = bytes, .length = length, .ascii_so_far = true, .document = document};
  if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) reader.skipped = 3;
  reader.fed = reader.fed_at_event = reader.known_byte = reader.skipped;

  if (!directives_are_bounded(&reader, reader.skipped)) return document->status;
  if (!yaml_parser_initialize(&reader.parser)) return fail(&reader, CYAML_OUT_OF_MEMORY, 0);
  // The seed differs by process, so no manifest can make all anchors collide.
  reader.anchors.seed = (uint64_t)(uintptr_t)&reader;
  yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input(&reader.parser, feed, &reader);

  bool going = true;
  bool document_seen = false;
  while (going) {
    yaml_event_t event;
    if (!yaml_parser_parse(&reader.parser, &event)) {
      parser_failed(&reader);
      break;
    }
    reader.fed_at_event = reader.fed;
    going = take(&reader, &event, &document_seen);
    release(&event);
  }
  document->is_ascii = reader.ascii_so_far;
  yaml_parser_delete(&reader.parser);
  anchors_release(&reader.anchors);
  return document->status;
}

void cyaml_release(cyaml_document *document) {
  records_release(document);
  free(document->texts);
  free(document->text_bytes);
  document->texts = NULL;
  document->text_bytes = NULL;
}
