#pragma once
#include <stdint.h>

/// prctl(2), PR_SET_CHILD_SUBREAPER.
int32_t clinux_become_subreaper(void);

enum {
  CLINUX_WAIT_ANY = 0,
  CLINUX_WAIT_PID = 1,
  CLINUX_WAIT_PIDFD = 3,
};

struct clinux_ended {
  /// 0 if no child has ended.
  int32_t pid;
  /// The exit code or the signal.
  int32_t status;
  int32_t by_signal;
  int64_t user_microseconds;
  int64_t system_microseconds;
  int64_t peak_kibibytes;
};

/// waitid(2), WEXITED. Only the raw call also returns the rusage of the child and of the
/// descendants that it waited for. Fails with ECHILD without such a child.
int32_t clinux_reap(int32_t kind, int32_t id, int32_t block, struct clinux_ended *ended);

int32_t clinux_pidfd_open(int32_t pid);

int32_t clinux_pidfd_signal(int32_t pidfd, int32_t signal);
