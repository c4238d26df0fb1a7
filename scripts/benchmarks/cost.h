// Prints a cost in the format of all benchmarks: CPU time (user and system) and wall time in
// microseconds, and the largest resident set in KiB.
#pragma once
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

// `who` is RUSAGE_SELF or RUSAGE_CHILDREN (getrusage(2)), `from` the start time by CLOCK_MONOTONIC.
static inline void print_cost(int who, struct timespec from) {
  struct timespec to;
  clock_gettime(CLOCK_MONOTONIC, &to);
  struct rusage use;
  getrusage(who, &use);
  printf("%ld %ld %ld\n",
         (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000000L + use.ru_utime.tv_usec +
             use.ru_stime.tv_usec,
         (to.tv_sec - from.tv_sec) * 1000000L + (to.tv_nsec - from.tv_nsec) / 1000, use.ru_maxrss);
}
