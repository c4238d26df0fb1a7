#define _GNU_SOURCE
#include "CTestSupport.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int32_t ctest_pidfd_open(int32_t pid) {
  long descriptor = syscall(SYS_pidfd_open, pid, 0);
  return descriptor < 0 ? -errno : (int32_t)descriptor;
}

int32_t ctest_reap(int32_t pid) {
  int status = 0;
  if (waitpid(pid, &status, WNOHANG) != pid) return -1000;
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  return -WTERMSIG(status);
}

int32_t ctest_pipe(int32_t ends[2]) {
  return pipe2(ends, O_CLOEXEC) == 0 ? 0 : -errno;
}

int32_t ctest_spawn_in_folder(posix_spawn_file_actions_t *actions, const char *folder) {
  return posix_spawn_file_actions_addchdir_np(actions, folder);
}

int32_t ctest_watch_folder(const char *folder) {
  int descriptor = inotify_init1(IN_CLOEXEC);
  if (descriptor < 0) return -errno;
  if (inotify_add_watch(descriptor, folder, IN_CREATE | IN_MODIFY | IN_MOVED_TO) < 0) {
    int failure = errno;
    close(descriptor);
    return -failure;
  }
  return descriptor;
}

int32_t ctest_open_terminal(int32_t columns, int32_t rows, char *path, size_t size) {
  int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0) return -errno;
  if (grantpt(terminal) < 0 || unlockpt(terminal) < 0 || ptsname_r(terminal, path, size) != 0 ||
      ctest_resize_terminal(terminal, columns, rows) < 0) {
    int failure = errno;
    close(terminal);
    return -failure;
  }
  return terminal;
}

int32_t ctest_resize_terminal(int32_t terminal, int32_t columns, int32_t rows) {
  struct winsize size = {.ws_col = (unsigned short)columns, .ws_row = (unsigned short)rows};
  return ioctl(terminal, TIOCSWINSZ, &size) < 0 ? -errno : 0;
}

int16_t ctest_spawn_new_session(void) {
  return POSIX_SPAWN_SETSID;
}
