#define _GNU_SOURCE
#include "clinux_thread.h"
#include "masked_thread.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct start {
  void (*work)(void *);
  void *context;
  char name[16];
};

static void *run(void *argument) {
  struct start start = *(struct start *)argument;
  free(argument);
  // Named by the thread itself, which may end before its creator could name it.
  pthread_setname_np(pthread_self(), start.name);
  start.work(start.context);
  return NULL;
}

int32_t clinux_thread_start(const char *name, size_t stack_bytes, void (*work)(void *),
                            void *context) {
  struct start *start = malloc(sizeof *start);
  if (start == NULL) return -1;
  *start = (struct start){.work = work, .context = context};
  strncpy(start->name, name, sizeof start->name - 1);
  int error = clinux_create_detached(stack_bytes, run, start);
  if (error == 0) return 0;
  free(start);
  errno = error;
  return -1;
}

// Descriptors to close in forked children; -1 marks a free slot.
enum { GUARDED = 1024 };
static _Atomic int guarded[GUARDED];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int registered;

static void close_guarded(void) {
  for (int place = 0; place < GUARDED; place++) {
    int descriptor = atomic_exchange(&guarded[place], -1);
    if (descriptor >= 0) close(descriptor);
  }
}

static void prepare(void) {
  for (int place = 0; place < GUARDED; place++) atomic_store(&guarded[place], -1);
  registered = pthread_atfork(NULL, NULL, close_guarded) == 0;
}

int32_t clinux_guard_fork(int32_t descriptor) {
  pthread_once(&once, prepare);
  if (!registered) return -1;
  for (int place = 0; place < GUARDED; place++) {
    int expected = -1;
    if (atomic_compare_exchange_strong(&guarded[place], &expected, descriptor)) return place;
  }
  return -1;
}

void clinux_unguard_fork(int32_t place) {
  if (place >= 0 && place < GUARDED) atomic_store(&guarded[place], -1);
}
