#define _GNU_SOURCE
#include "clinux_thread.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

struct start {
  void (*work)(void *);
  void *context;
};

static void *run(void *argument) {
  struct start start = *(struct start *)argument;
  free(argument);
  start.work(start.context);
  return NULL;
}

int32_t clinux_thread_start(const char *name, size_t stack_bytes, void (*work)(void *), void *context) {
  struct start *start = malloc(sizeof *start);
  if (start == NULL) return -1;
  *start = (struct start){.work = work, .context = context};
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error == 0) {
    pthread_attr_setstacksize(&attributes, stack_bytes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    // No signal is this thread's business.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    error = pthread_create(&thread, &attributes, run, start);
    if (error == 0) pthread_setname_np(thread, name);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
  }
  if (error == 0) return 0;
  free(start);
  errno = error;
  return -1;
}

// Descriptors that a forked child is not to have, by their numbers; -1 is a free place.
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
