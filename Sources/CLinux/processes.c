#define _GNU_SOURCE
#include "clinux_processes.h"
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int32_t clinux_become_subreaper(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

static int64_t microseconds(struct timeval time) {
  return (int64_t)time.tv_sec * 1000000 + time.tv_usec;
}

int32_t clinux_reap(int32_t kind, int32_t id, int32_t block, struct clinux_ended *ended) {
  siginfo_t info;
  struct rusage usage;
  info.si_pid = 0;
  if (syscall(SYS_waitid, kind, id, &info, WEXITED | (block ? 0 : WNOHANG), &usage) < 0) return -1;
  ended->pid = info.si_pid;
  if (info.si_pid == 0) return 0;
  ended->status = info.si_status;
  ended->by_signal = info.si_code != CLD_EXITED;
  ended->user_microseconds = microseconds(usage.ru_utime);
  ended->system_microseconds = microseconds(usage.ru_stime);
  ended->peak_kibibytes = usage.ru_maxrss;
  return 0;
}

int32_t clinux_pidfd_open(int32_t pid) { return (int32_t)syscall(SYS_pidfd_open, pid, 0); }

int32_t clinux_pidfd_signal(int32_t pidfd, int32_t signal) {
  return (int32_t)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
}
