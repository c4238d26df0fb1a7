#pragma once
#include <stddef.h>
#include <stdint.h>

struct clinux_writer;

/// Starts a thread that writes what it is handed and waits for whoever is to read it, so that nobody
/// else has to. NULL with errno set when it cannot start.
struct clinux_writer *clinux_writer_start(int32_t notify);

/// Whether everything it was handed is written. If it is not, one is added to the eventfd `notify`
/// once it is.
int32_t clinux_writer_is_idle(struct clinux_writer *writer);

/// Hands over bytes, which are copied, to be written to `descriptor`. The thread must be idle.
/// Returns -1 with errno set when there is no memory.
int32_t clinux_writer_put(struct clinux_writer *writer, int32_t descriptor, const void *bytes,
                          size_t count);

/// How many bytes were written so far, of those in hand too.
uint64_t clinux_writer_written(struct clinux_writer *writer);

/// The errno with which a write failed since the last call, and its descriptor; 0 for none. The rest
/// of those bytes is lost.
int32_t clinux_writer_take_error(struct clinux_writer *writer, int32_t *descriptor);

/// Lets go of the thread without waiting for it. It ends when it has written what it has in hand, or
/// with the process: a write(2) to somebody who does not read may take for ever.
void clinux_writer_leave(struct clinux_writer *writer);
