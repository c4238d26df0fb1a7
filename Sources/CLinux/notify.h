#pragma once
#include <sched.h>
#include <stdint.h>
#include <unistd.h>

/// Wakes the reader of an event descriptor, which waits for nothing else. A full counter means that
/// it is awake already; other errors are retried many times.
static inline void clinux_notify(int32_t descriptor) {
  enum { TRIES = 10000 };
  uint64_t one = 1;
  for (int tries = 0; tries < TRIES; tries++) {
    if (write(descriptor, &one, sizeof one) == sizeof one) return;
    sched_yield();
  }
}
