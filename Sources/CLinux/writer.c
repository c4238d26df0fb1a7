#define _GNU_SOURCE
#include "clinux_writer.h"
#include "masked_thread.h"
#include "notify.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STACK_BYTES = 256 * 1024 };

struct clinux_writer {
  pthread_mutex_t lock;
  pthread_cond_t handed;
  int32_t notify;
  _Atomic uint64_t written;
  // The lock protects the rest. While `count` is not 0 the thread owns the bytes and the
  // descriptor.
  char *bytes;
  size_t capacity;
  size_t count;
  int32_t descriptor;
  int32_t is_awaited;
  int32_t error;
  int32_t error_descriptor;
  int32_t leaving;
};

enum { PAUSE_MILLISECONDS = 10 };

static void wait_for_room(int descriptor) {
  struct pollfd room = {.fd = descriptor, .events = POLLOUT};
  poll(&room, 1, -1);
  // Some stopped terminals claim to be writable.
  poll(NULL, 0, PAUSE_MILLISECONDS);
}

// A write to a terminal returns when all of it is accepted: small pieces show the progress of a
// slow terminal.
enum { TERMINAL_BYTES = 512 };

// Returns 0 or an errno.
static int write_all(struct clinux_writer *writer) {
  size_t most = isatty(writer->descriptor) ? TERMINAL_BYTES : writer->count;
  size_t done = 0;
  while (done < writer->count) {
    size_t left = writer->count - done;
    ssize_t count =
        write(writer->descriptor, writer->bytes + done, left < most ? left : most);
    if (count >= 0) {
      done += (size_t)count;
      atomic_fetch_add(&writer->written, (uint64_t)count);
    } else if (errno == EAGAIN) {
      // Another process that shares the open file made it non-blocking.
      wait_for_room(writer->descriptor);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

static void destroy(struct clinux_writer *writer) {
  pthread_cond_destroy(&writer->handed);
  pthread_mutex_destroy(&writer->lock);
  free(writer->bytes);
  free(writer);
}

static void *run(void *argument) {
  struct clinux_writer *writer = argument;
  pthread_mutex_lock(&writer->lock);
  while (1) {
    if (writer->count > 0) {
      pthread_mutex_unlock(&writer->lock);
      int error = write_all(writer);
      pthread_mutex_lock(&writer->lock);
      writer->count = 0;
      if (error != 0) {
        writer->error = error;
        writer->error_descriptor = writer->descriptor;
      }
      // After `leave` the event descriptor may be closed.
      if (writer->is_awaited && !writer->leaving) clinux_notify(writer->notify);
      writer->is_awaited = 0;
    } else if (writer->leaving) {
      break;
    } else {
      pthread_cond_wait(&writer->handed, &writer->lock);
    }
  }
  pthread_mutex_unlock(&writer->lock);
  destroy(writer);
  return NULL;
}

struct clinux_writer *clinux_writer_start(int32_t notify) {
  struct clinux_writer *writer = calloc(1, sizeof *writer);
  if (writer == NULL) return NULL;
  writer->notify = notify;
  pthread_mutex_init(&writer->lock, NULL);
  pthread_cond_init(&writer->handed, NULL);
  int error = clinux_create_detached(STACK_BYTES, run, writer);
  if (error == 0) return writer;
  destroy(writer);
  errno = error;
  return NULL;
}

int32_t clinux_writer_is_idle(struct clinux_writer *writer) {
  pthread_mutex_lock(&writer->lock);
  int32_t is_idle = writer->count == 0;
  if (!is_idle) writer->is_awaited = 1;
  pthread_mutex_unlock(&writer->lock);
  return is_idle;
}

int32_t clinux_writer_put(struct clinux_writer *writer, int32_t descriptor, const void *bytes,
                          size_t count) {
  int32_t result = 0;
  pthread_mutex_lock(&writer->lock);
  if (count > writer->capacity) {
    char *larger = realloc(writer->bytes, count);
    if (larger == NULL) {
      result = -1;
    } else {
      writer->bytes = larger;
      writer->capacity = count;
    }
  }
  if (result == 0 && count > 0) {
    memcpy(writer->bytes, bytes, count);
    writer->descriptor = descriptor;
    writer->count = count;
    pthread_cond_signal(&writer->handed);
  }
  pthread_mutex_unlock(&writer->lock);
  return result;
}

uint64_t clinux_writer_written(struct clinux_writer *writer) {
  return atomic_load(&writer->written);
}

int32_t clinux_writer_take_error(struct clinux_writer *writer, int32_t *descriptor) {
  pthread_mutex_lock(&writer->lock);
  int32_t error = writer->error;
  *descriptor = writer->error_descriptor;
  writer->error = 0;
  pthread_mutex_unlock(&writer->lock);
  return error;
}

void clinux_writer_leave(struct clinux_writer *writer) {
  pthread_mutex_lock(&writer->lock);
  writer->leaving = 1;
  pthread_cond_signal(&writer->handed);
  pthread_mutex_unlock(&writer->lock);
}
