// Runs a command so many times and prints what that cost, descendants included: CPU time in
// microseconds (user and system), wall time in microseconds, the largest resident set in KiB.
// Ends with 1 when the command failed; its words then stand in the file `errors`.
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cost.h"

extern char **environ;

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  struct timespec from;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const char *input = getenv("CLOCK_INPUT");
  posix_spawn_file_actions_addopen(&actions, 0, input ? input : "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "errors", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  clock_gettime(CLOCK_MONOTONIC, &from);
  for (int i = atoi(argv[1]); i > 0; i--) {
    pid_t pid;
    int status;
    if (posix_spawnp(&pid, argv[2], &actions, NULL, argv + 2, environ) != 0) return 2;
    if (waitpid(pid, &status, 0) != pid || status != 0) return 1;
  }
  print_cost(RUSAGE_CHILDREN, from);
  return 0;
}
