#pragma once
#include <stdint.h>

struct clinux_sync_pool;

/// Threads that call fsync(2) on what they are given and do nothing else: the kernel answers many
/// syncs at once in hardly more time than one. Up to `most` are started, as they are needed. After
/// each group of files one is added to the eventfd `notify`. NULL with errno set when there is no
/// memory.
struct clinux_sync_pool *clinux_sync_pool_create(int32_t most, int32_t notify);

/// Syncs `count` files, at least one, in one thread. They must stay open until their results were
/// taken, where tickets from `first_ticket` on name them. Returns 0, or -1 with errno set when not even
/// one thread can be had.
int32_t clinux_sync_pool_submit(struct clinux_sync_pool *pool, const int32_t *descriptors,
                                int32_t count, uint64_t first_ticket);

/// Takes a result: its ticket, and in `error` 0 or what fsync said. Returns 1, or 0 when there is none.
int32_t clinux_sync_pool_take(struct clinux_sync_pool *pool, uint64_t *ticket, int32_t *error);

/// Lets the threads finish what was submitted, and ends them.
void clinux_sync_pool_destroy(struct clinux_sync_pool *pool);
