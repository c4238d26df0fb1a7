#pragma once
#include <sched.h>
#include <stdint.h>
#include <unistd.h>

/// Wakes the reader of an event descriptor. It must not be lost: the reader waits for nothing else.
/// The write cannot fail for good (a full counter means that the reader is awake anyway), so whatever
/// it fails with, it is made again, and given up only where it never works.
static inline void clinux_notify(int32_t descriptor) {
  enum { TRIES = 10000 };
  uint64_t one = 1;
  for (int tries = 0; tries < TRIES; tries++) {
    if (write(descriptor, &one, sizeof one) == sizeof one) return;
    sched_yield();
  }
}
