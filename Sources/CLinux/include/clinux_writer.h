#pragma once
#include <stddef.h>
#include <stdint.h>

struct clinux_writer;

/// Starts a thread that writes bytes and waits for slow readers. Returns NULL with errno on
/// failure.
struct clinux_writer *clinux_writer_start(int32_t notify);

/// Returns 1 if all bytes are written. If not, the eventfd `notify` gets one once they are.
int32_t clinux_writer_is_idle(struct clinux_writer *writer);

/// Copies bytes to be written to `descriptor`. The thread must be idle. Fails if there is no
/// memory.
int32_t clinux_writer_put(struct clinux_writer *writer, int32_t descriptor, const void *bytes,
                          size_t count);

/// The number of bytes written so far, including a part of the current piece.
uint64_t clinux_writer_written(struct clinux_writer *writer);

/// The errno and descriptor of a write that failed since the last call; 0 if none did. The rest of
/// its bytes is lost.
int32_t clinux_writer_take_error(struct clinux_writer *writer, int32_t *descriptor);

/// Detaches the thread without waiting. It ends after its current piece, or with the process: a
/// write(2) may block forever if the reader does not read.
void clinux_writer_leave(struct clinux_writer *writer);
