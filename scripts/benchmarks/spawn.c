// The lower limit for dispatch: `spawn COUNT COMMAND...` runs the command COUNT times in two
// processes that only spawn it and wait for it.
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int spawn_all(int count, char **command) {
  for (; count > 0; count--) {
    pid_t pid;
    int status;
    if (posix_spawnp(&pid, command[0], NULL, NULL, command, environ) != 0) return 2;
    if (waitpid(pid, &status, 0) != pid || status != 0) return 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  int count = atoi(argv[1]), status;
  pid_t other = fork();
  if (other < 0) return 2;
  int own = spawn_all(other == 0 ? count / 2 : count - count / 2, argv + 2);
  if (other == 0) _exit(own);
  if (waitpid(other, &status, 0) != other || status != 0) return 1;
  return own;
}
