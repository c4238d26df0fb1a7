#pragma once
#include <pthread.h>
#include <signal.h>
#include <stddef.h>

/// Creates a thread with all signals blocked. `attributes` may be NULL. Returns 0 or an errno.
static inline int clinux_create_masked(pthread_t *thread, const pthread_attr_t *attributes,
                                       void *(*run)(void *), void *argument) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = pthread_create(thread, attributes, run, argument);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
}

/// The same for a detached thread.
static inline int clinux_create_detached(size_t stack_bytes, void *(*run)(void *), void *argument) {
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error != 0) return error;
  pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  error = clinux_create_masked(&thread, &attributes, run, argument);
  pthread_attr_destroy(&attributes);
  return error;
}
