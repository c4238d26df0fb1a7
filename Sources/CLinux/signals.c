#define _GNU_SOURCE
#include "clinux_signals.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { EXIT_IO_ERROR = 74, PATIENCE_MILLISECONDS = 1000 };

static void fill(sigset_t *set, uint64_t signals) {
  sigemptyset(set);
  for (int number = 1; number <= 64; number++) {
    if (signals >> (number - 1) & 1) sigaddset(set, number);
  }
}

static int32_t change_mask(int how, uint64_t signals) {
  sigset_t set;
  fill(&set, signals);
  int error = pthread_sigmask(how, &set, NULL);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

int32_t clinux_block_signals(uint64_t signals) { return change_mask(SIG_BLOCK, signals); }

int32_t clinux_unblock_signals(uint64_t signals) { return change_mask(SIG_UNBLOCK, signals); }

int32_t clinux_signal_descriptor(uint64_t signals) {
  sigset_t set;
  fill(&set, signals);
  return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int32_t clinux_read_signal(int32_t descriptor, struct clinux_signal *signal) {
  struct signalfd_siginfo info;
  ssize_t count = read(descriptor, &info, sizeof info);
  if (count < 0) return -1;
  if (count != sizeof info) {
    errno = EIO;
    return -1;
  }
  signal->number = info.ssi_signo;
  signal->sender = (int32_t)info.ssi_pid;
  if (info.ssi_pid == 0 && info.ssi_code != SI_KERNEL) signal->sender = -1;
  return 0;
}

int32_t clinux_ignore_signal(int32_t number) {
  struct sigaction action = {.sa_handler = SIG_IGN};
  return sigaction(number, &action, NULL);
}

int32_t clinux_default_signal(int32_t number) {
  struct sigaction action = {.sa_handler = SIG_DFL};
  return sigaction(number, &action, NULL);
}

int32_t clinux_is_ignored(int32_t number) {
  struct sigaction action;
  return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

void clinux_reset_dispositions(void) {
  // The kernel's own sigaction, all zero: SIG_DFL, no flags, empty mask. A raw call, because glibc
  // refuses the two signals that it uses itself, which a parent may have left ignored.
  static const uint64_t defaults[8];
  int keeps_hangup = clinux_is_ignored(SIGHUP);
  for (long number = 1; number <= 64; number++) {
    if (number == SIGHUP && keeps_hangup) continue;
    syscall(SYS_rt_sigaction, number, defaults, NULL, sizeof(uint64_t));
  }
}

static const char *bus_error_text = "";

static void report_bus_error(int number) {
  (void)number;
  // Do not wait forever for the reader.
  struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};
  if (poll(&room, 1, PATIENCE_MILLISECONDS) <= 0) _exit(EXIT_IO_ERROR);
  ssize_t written = write(STDERR_FILENO, bus_error_text, strlen(bus_error_text));
  (void)written;
  _exit(EXIT_IO_ERROR);
}

int32_t clinux_exit_on_bus_error(const char *text) {
  bus_error_text = text;
  struct sigaction action = {.sa_handler = report_bus_error};
  if (sigaction(SIGBUS, &action, NULL) < 0) return -1;
  // A fault whose signal is blocked kills the process without a message.
  return clinux_unblock_signals(UINT64_C(1) << (SIGBUS - 1));
}
