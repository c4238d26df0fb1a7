#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "reader.h"

enum {
  LARGE_PAGE = 2 << 20,
  SMALL_TABLE = 64 << 10,
  // For manifests of one or two tasks, which programs add by the thousand. With several threads,
  // unmapping memory takes longer than reading such a manifest.
  TINY_TABLE = 8 << 10,
  TINY_LENGTH = 1 << 10,
  BYTES_PER_RECORD = 4,
};

// Enough records for most manifests of that length. Unused memory is never touched.
static size_t first_size(size_t length) {
  if (length <= TINY_LENGTH) return TINY_TABLE;
  size_t size = length / BYTES_PER_RECORD * sizeof(cyaml_record);
  return size < SMALL_TABLE ? SMALL_TABLE : (size + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
}

// Grows the table from `size` bytes (0 at first) to `wanted`; uses a mapping unless it is tiny.
static void *mapping(cyaml_document *document, size_t size, size_t wanted) {
  if (wanted <= TINY_TABLE) {
    void *table = malloc(wanted);
    return table ? table : MAP_FAILED;
  }
  if (size > TINY_TABLE) return mremap(document->records, size, wanted, MREMAP_MAYMOVE);
  void *mapped = mmap(NULL, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped != MAP_FAILED && size) {
    memcpy(mapped, document->records, size);
    free(document->records);
  }
  return mapped;
}

bool records_grow(cyaml_document *document, size_t length) {
  size_t size = document->record_capacity * sizeof(cyaml_record);
  size_t wanted = size ? size * 2 : first_size(length);
  void *grown = mapping(document, size, wanted);
  // If the kernel does not overcommit memory, start with a small table.
  if (grown == MAP_FAILED && size == 0) grown = mapping(document, 0, wanted = SMALL_TABLE);
  if (grown == MAP_FAILED) return false;
  // Small pages cost a page fault each. This is only advice; a kernel may lack large pages.
  if (wanted > LARGE_PAGE) madvise(grown, wanted, MADV_HUGEPAGE);
  document->records = grown;
  document->record_capacity = wanted / sizeof(cyaml_record);
  return true;
}

void records_release(cyaml_document *document) {
  size_t size = document->record_capacity * sizeof(cyaml_record);
  if (size <= TINY_TABLE) {
    free(document->records);
  } else if (document->records) {
    // Can only fail if this is not a mapping.
    munmap(document->records, size);
  }
  document->records = NULL;
}
