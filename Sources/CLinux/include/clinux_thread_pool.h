#pragma once
#include <stddef.h>
#include <stdint.h>

struct clinux_thread_pool;

/// Creates a pool of at most `most` threads with `stack_bytes` of stack each, started on demand.
/// Each finished job adds one to the eventfd `notify`. Returns NULL with errno if there is no
/// memory.
struct clinux_thread_pool *clinux_thread_pool_create(int32_t most, size_t stack_bytes,
                                                     int32_t notify);

/// Calls `work` with `context` on a thread. Fails if not even one thread can start; `work` is then
/// not called.
int32_t clinux_thread_pool_submit(struct clinux_thread_pool *pool, uint64_t ticket,
                                  void (*work)(void *), void *context);

/// Takes the ticket of a finished job. Returns 1, or 0 without a finished job.
int32_t clinux_thread_pool_take(struct clinux_thread_pool *pool, uint64_t *ticket);

/// Finishes pending jobs and ends the threads.
void clinux_thread_pool_destroy(struct clinux_thread_pool *pool);
