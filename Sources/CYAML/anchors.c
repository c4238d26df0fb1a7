#include <stdlib.h>
#include <string.h>

#include "reader.h"

// FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/).
static uint64_t name_hash(const char *name, uint64_t seed) {
  uint64_t hash = 14695981039346656037u ^ seed;
  for (const char *byte = name; *byte; byte++) {
    hash = (hash ^ (uint8_t)*byte) * 1099511628211u;
  }
  return hash ^ (hash >> 32);
}

// Returns the slot of a name, or the free slot where it belongs.
static size_t slot_of(const anchor_table *table, const char *name) {
  size_t mask = table->slot_count - 1;
  size_t slot = name_hash(name, table->seed) & mask;
  while (table->slots[slot] != UINT32_MAX &&
         strcmp(table->names + table->items[table->slots[slot]].name, name) != 0) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

uint32_t anchors_find(const anchor_table *table, const char *name) {
  if (table->slot_count == 0) return UINT32_MAX;
  return table->slots[slot_of(table, name)];
}

static bool grow_slots(anchor_table *table) {
  size_t count = table->slot_count ? table->slot_count * 2 : 16;
  uint32_t *slots = malloc(count * sizeof *slots);
  if (!slots) return false;
  memset(slots, 0xff, count * sizeof *slots);
  free(table->slots);
  table->slots = slots;
  table->slot_count = count;
  for (size_t item = 0; item < table->count; item++) {
    slots[slot_of(table, table->names + table->items[item].name)] = (uint32_t)item;
  }
  return true;
}

uint32_t anchors_set(anchor_table *table, const char *name, uint32_t record) {
  if ((table->count + 1) * 2 > table->slot_count && !grow_slots(table)) return UINT32_MAX;
  size_t slot = slot_of(table, name);
  if (table->slots[slot] == UINT32_MAX) {
    size_t length = strlen(name) + 1;
    if (!reader_reserve((void **)&table->items, &table->capacity, table->count + 1,
                        sizeof *table->items) ||
        !reader_reserve((void **)&table->names, &table->names_capacity,
                        table->names_length + length, 1)) {
      return UINT32_MAX;
    }
    memcpy(table->names + table->names_length, name, length);
    table->items[table->count].name = table->names_length;
    table->names_length += length;
    table->slots[slot] = (uint32_t)table->count++;
  }
  anchor *item = &table->items[table->slots[slot]];
  item->record = record;
  item->expanded = 0;
  item->height = 0;
  return table->slots[slot];
}

void anchors_release(anchor_table *table) {
  free(table->items);
  free(table->slots);
  free(table->names);
}
