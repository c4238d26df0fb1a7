#define _GNU_SOURCE
#include "clinux_terminal.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <unistd.h>

// Device numbers of /dev/pts/N (pty(7), Documentation/admin-guide/devices.txt).
enum { FIRST_MAJOR = 136, LAST_MAJOR = 143, MINORS = 256 };

// Opens the terminal by its own name. Another devpts mount may have a terminal of the same name:
// tcgetsid(3) shows whether it is this session's.
static int open_by_name(int terminal) {
  unsigned int device = 0;
  if (ioctl(terminal, TIOCGDEV, &device) < 0) return -1;
  if (major(device) < FIRST_MAJOR || major(device) > LAST_MAJOR) return -1;
  char path[32];
  snprintf(
      path, sizeof path, "/dev/pts/%u", (major(device) - FIRST_MAJOR) * MINORS + minor(device));
  int named = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (named < 0) return -1;
  if (tcgetsid(named) == getsid(0)) return named;
  close(named);
  return -1;
}

int32_t clinux_open_terminal(void) {
  int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0) return -1;
  int named = open_by_name(terminal);
  if (named < 0) return terminal;
  close(terminal);
  return named;
}

_Static_assert(sizeof(struct termios) <= sizeof(struct clinux_terminal_modes), "modes do not fit");

int32_t clinux_terminal_modes(int32_t descriptor, struct clinux_terminal_modes *modes) {
  struct termios found;
  if (tcgetattr(descriptor, &found) < 0) return -1;
  memset(modes, 0, sizeof *modes);
  memcpy(modes, &found, sizeof found);
  return 0;
}

// Blocks SIGTTOU, which would stop a background process in the following call.
static void begin_quietly(sigset_t *before) {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTTOU);
  pthread_sigmask(SIG_BLOCK, &stop, before);
}

static int32_t end_quietly(int32_t result, const sigset_t *before) {
  int error = errno;
  pthread_sigmask(SIG_SETMASK, before, NULL);
  errno = error;
  return result;
}

int32_t clinux_set_terminal_modes(int32_t descriptor, const struct clinux_terminal_modes *modes) {
  struct clinux_terminal_modes found;
  if (clinux_terminal_modes(descriptor, &found) < 0) return -1;
  if (memcmp(&found, modes, sizeof found) == 0) return 0;
  struct termios wanted;
  memcpy(&wanted, modes, sizeof wanted);
  sigset_t before;
  begin_quietly(&before);
  return end_quietly(tcsetattr(descriptor, TCSANOW, &wanted), &before);
}

static struct termios given_back;
static _Atomic int given_back_to = -1;
static const int deaths[] = {SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGSEGV, SIGSYS};
enum { DEATHS = sizeof deaths / sizeof *deaths };
// The previous actions: the default, or the backtrace of the Swift runtime.
static struct sigaction others[DEATHS];
static int is_set[DEATHS];

// Restores the terminal, then raises the signal again. The handler's mask blocks SIGTTOU, which
// would stop a background process.
static void give_back_and_die(int number) {
  int descriptor = atomic_exchange(&given_back_to, -1);
  if (descriptor >= 0 && tcgetpgrp(descriptor) == getpgrp()) {
    static const char shown[] = "\x1b[?25h\x1b[?7h\x1b[?2026l\r\n";
    struct pollfd room = {.fd = descriptor, .events = POLLOUT};
    if (poll(&room, 1, 0) > 0) {
      ssize_t written = write(descriptor, shown, sizeof shown - 1);
      (void)written;
    }
    tcsetattr(descriptor, TCSANOW, &given_back);
  }
  for (int i = 0; i < DEATHS; i++) {
    if (deaths[i] == number) sigaction(number, &others[i], NULL);
  }
  raise(number);
}

void clinux_give_back_at_death(int32_t descriptor, const struct clinux_terminal_modes *modes) {
  atomic_store(&given_back_to, -1);
  if (descriptor >= 0) memcpy(&given_back, modes, sizeof given_back);
  atomic_store(&given_back_to, descriptor);
  struct sigaction own = {.sa_handler = give_back_and_die, .sa_flags = SA_ONSTACK};
  sigfillset(&own.sa_mask);
  for (int i = 0; i < DEATHS; i++) {
    if (descriptor < 0) {
      if (is_set[i]) sigaction(deaths[i], &others[i], NULL);
      is_set[i] = 0;
    } else if (!is_set[i] && sigaction(deaths[i], NULL, &others[i]) == 0 &&
               others[i].sa_handler != SIG_IGN) {
      is_set[i] = sigaction(deaths[i], &own, NULL) == 0;
    }
  }
}

void clinux_key_modes(
    const struct clinux_terminal_modes *modes, struct clinux_terminal_modes *keys) {
  struct termios wanted;
  memcpy(&wanted, modes, sizeof wanted);
  wanted.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
  wanted.c_cc[VMIN] = 0;
  wanted.c_cc[VTIME] = 0;
  *keys = *modes;
  memcpy(keys, &wanted, sizeof wanted);
}

int64_t clinux_read_keys(int32_t descriptor, void *buffer, uint64_t size) {
  sigset_t stop, before;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTTIN);
  pthread_sigmask(SIG_BLOCK, &stop, &before);
  int64_t count = read(descriptor, buffer, size);
  int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = error;
  return count;
}

int32_t clinux_set_foreground(int32_t descriptor, int32_t group) {
  sigset_t before;
  begin_quietly(&before);
  return end_quietly(tcsetpgrp(descriptor, group), &before);
}
