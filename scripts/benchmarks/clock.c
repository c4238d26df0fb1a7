// `clock COUNT COMMAND...`: runs the command COUNT times and prints the cost, with descendants: CPU
// time (user and system) and wall time in microseconds, and the largest resident set in KiB. Exits
// with 1 if the command fails; its standard error is in the file `errors`. CLOCK_INPUT names a file
// for standard input. With CLOCK_TERMINAL, the command runs in a terminal of 80 x 24, whose output
// is discarded.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cost.h"

extern char **environ;

// Opens a terminal. Each command is a session leader, so the terminal becomes its controlling
// terminal.
static int open_terminal(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes) {
  int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) exit(2);
  struct winsize size = {.ws_row = 24, .ws_col = 80};
  ioctl(terminal, TIOCSWINSZ, &size);
  posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSID);
  posix_spawn_file_actions_addopen(actions, 0, ptsname(terminal), O_RDWR, 0);
  posix_spawn_file_actions_adddup2(actions, 0, 1);
  posix_spawn_file_actions_adddup2(actions, 0, 2);
  return terminal;
}

// Reads until all processes have closed the other side.
static void drain(int terminal) {
  char bytes[65536];
  for (;;) {
    ssize_t count = read(terminal, bytes, sizeof bytes);
    if (count == 0 || (count < 0 && errno != EINTR)) return;
  }
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  struct timespec from;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  const char *input = getenv("CLOCK_INPUT");
  int terminal = -1;
  if (getenv("CLOCK_TERMINAL")) {
    terminal = open_terminal(&actions, &attributes);
  } else {
    posix_spawn_file_actions_addopen(&actions, 0, input ? input : "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "errors", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  }
  clock_gettime(CLOCK_MONOTONIC, &from);
  for (int i = atoi(argv[1]); i > 0; i--) {
    pid_t pid;
    int status;
    if (posix_spawnp(&pid, argv[2], &actions, &attributes, argv + 2, environ) != 0) return 2;
    if (terminal >= 0) drain(terminal);
    if (waitpid(pid, &status, 0) != pid || status != 0) return 1;
  }
  print_cost(RUSAGE_CHILDREN, from);
  return 0;
}
