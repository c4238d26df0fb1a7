#pragma once
#include <stddef.h>
#include <stdint.h>

/// Has a thread of its own call `work` with `context`, every signal blocked; it ends when that returns, and nobody
/// need wait for it. The name has 15 bytes at most. Returns 0, or -1 with errno set, and `work` is then not called.
int32_t clinux_thread_start(const char *name, size_t stack_bytes, void (*work)(void *), void *context);

/// Has a descriptor be closed in each child of this process that fork(3) makes, so that the other end sees when this
/// process is gone. Returns the place for `clinux_unguard_fork`, which comes before the descriptor is closed here;
/// -1 where there is no room: then children keep it until they execute.
int32_t clinux_guard_fork(int32_t descriptor);

void clinux_unguard_fork(int32_t place);
