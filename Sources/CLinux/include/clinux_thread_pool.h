#pragma once
#include <stddef.h>
#include <stdint.h>

struct clinux_thread_pool;

/// Threads for work that would make its caller wait for the disk. Up to `most` are started, as they are
/// needed, with a stack of `stack_bytes` each. After each job one is added to the eventfd `notify`. NULL
/// with errno set when there is no memory.
struct clinux_thread_pool *clinux_thread_pool_create(int32_t most, size_t stack_bytes,
                                                     int32_t notify);

/// Has a thread call `work` with `context`. Returns 0, or -1 with errno set when not even one thread can
/// be had; `work` is then not called.
int32_t clinux_thread_pool_submit(struct clinux_thread_pool *pool, uint64_t ticket,
                                  void (*work)(void *), void *context);

/// Takes the ticket of a job that has been done. Returns 1, or 0 when there is none.
int32_t clinux_thread_pool_take(struct clinux_thread_pool *pool, uint64_t *ticket);

/// Lets the threads finish what was submitted, and ends them.
void clinux_thread_pool_destroy(struct clinux_thread_pool *pool);
