// The names of system calls that opflow makes. Others have numbers only.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#define COMMON_CALLS \
  C(read) C(write) C(close) C(openat) C(statx) C(ppoll) C(lseek) C(mmap) C(mprotect) C(munmap) \
  C(brk) C(mremap) C(madvise) C(rt_sigaction) C(rt_sigprocmask) C(rt_sigreturn) C(ioctl) \
  C(pread64) C(pwrite64) C(readv) C(writev) C(faccessat) C(pipe2) C(dup) C(dup3) C(getpid) \
  C(getppid) C(gettid) C(getuid) C(geteuid) C(getgid) C(getegid) C(getsid) C(socket) C(socketpair) \
  C(connect) C(accept4) C(bind) C(listen) C(sendto) C(recvfrom) C(sendmsg) C(recvmsg) C(clone) \
  C(clone3) C(execve) C(exit) C(exit_group) C(wait4) C(waitid) C(kill) C(tgkill) C(uname) C(fcntl) \
  C(flock) C(fsync) C(fdatasync) C(ftruncate) C(fallocate) C(getdents64) C(getcwd) C(chdir) \
  C(renameat) C(renameat2) C(mkdirat) C(unlinkat) C(linkat) C(symlinkat) C(readlinkat) C(fchmod) \
  C(umask) C(getrusage) C(sysinfo) C(prctl) C(setsid) C(setpgid) C(sched_yield) \
  C(sched_getaffinity) C(futex) C(set_tid_address) C(set_robust_list) C(rseq) C(getrandom) \
  C(epoll_create1) C(epoll_ctl) C(epoll_pwait) C(epoll_pwait2) C(eventfd2) C(signalfd4) \
  C(inotify_init1) C(inotify_add_watch) C(prlimit64) C(pidfd_open) C(pidfd_send_signal) \
  C(close_range) C(sigaltstack) C(membarrier)

// Calls that only older architectures have.
#define LEGACY_CALLS \
  C(open) C(creat) C(stat) C(fstat) C(lstat) C(newfstatat) C(poll) C(access) C(pipe) C(dup2) \
  C(fork) C(vfork) C(mkdir) C(rmdir) C(unlink) C(rename) C(link) C(symlink) C(readlink) C(chmod) \
  C(epoll_wait) C(getrlimit) C(arch_prctl) C(getpgrp) C(accept)

static const struct {
  const char *name;
  long number;
} calls[] = {
#define C(name) {#name, SYS_##name},
    COMMON_CALLS
#ifdef SYS_open
    LEGACY_CALLS
#endif
#undef C
};

enum { CALL_COUNT = sizeof calls / sizeof calls[0] };

static const char *call_name(long number) {
  for (int i = 0; i < CALL_COUNT; i++) {
    if (calls[i].number == number) return calls[i].name;
  }
  static char text[16];
  snprintf(text, sizeof text, "%ld", number);
  return text;
}

static long call_number(const char *name) {
  for (int i = 0; i < CALL_COUNT; i++) {
    if (strcmp(calls[i].name, name) == 0) return calls[i].number;
  }
  char *end;
  long number = strtol(name, &end, 10);
  return *end == 0 && end != name ? number : -1;
}
