#pragma once
#include <stddef.h>
#include <stdint.h>

/// Calls `work` with `context` on a new detached thread with all signals blocked. The name has at
/// most 15 bytes. On failure `work` is not called.
int32_t clinux_thread_start(const char *name, size_t stack_bytes, void (*work)(void *),
                            void *context);

/// Closes the descriptor in children made by fork(3), so that the other end sees the end of this
/// process. Returns the place for `clinux_unguard_fork`, to be called before the descriptor is
/// closed here; -1 if there is no room: children then keep it until their exec.
int32_t clinux_guard_fork(int32_t descriptor);

void clinux_unguard_fork(int32_t place);
