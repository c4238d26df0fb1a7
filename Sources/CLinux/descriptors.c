#define _GNU_SOURCE
#include "clinux_descriptors.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

void clinux_error_text(int32_t number, char *buffer, size_t size) {
  // The GNU version returns the text, which need not be in the buffer.
  const char *text = strerror_r(number, buffer, size);
  if (text != buffer) snprintf(buffer, size, "%s", text);
}

int32_t clinux_pipe(struct clinux_pipe_ends *ends) {
  int made[2];
  if (pipe2(made, O_CLOEXEC) < 0) return -1;
  ends->read = made[0];
  ends->write = made[1];
  return 0;
}

static int is_closed(int descriptor) {
  return fcntl(descriptor, F_GETFD) < 0 && errno == EBADF;
}

// Opens a pipe whose other end is closed, for use without /dev/null. All lower descriptors are
// open, so the new one gets the free number.
static int32_t open_dead_pipe(int descriptor) {
  int ends[2];
  if (pipe(ends) < 0) return -1;
  int from = descriptor == STDIN_FILENO ? ends[0] : ends[1];
  int other = descriptor == STDIN_FILENO ? ends[1] : ends[0];
  if (from != descriptor) {
    int result = dup2(from, descriptor);
    int error = errno;
    close(from);
    errno = error;
    if (result < 0) return -1;
  }
  if (other != descriptor) close(other);
  return 0;
}

int32_t clinux_open_standard_streams(void) {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++) {
    if (!is_closed(descriptor)) continue;
    int opened = open("/dev/null", descriptor == STDIN_FILENO ? O_RDONLY : O_WRONLY);
    if (opened == descriptor) continue;
    if (opened >= 0) {
      close(opened);
      errno = EBADF;
      return -1;
    }
    if (open_dead_pipe(descriptor) < 0) return -1;
  }
  return 0;
}

int32_t clinux_begin_writing(int32_t descriptor) {
  return sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WRITE);
}

int32_t clinux_duplicate(int32_t descriptor, int32_t lowest) {
  return fcntl(descriptor, F_DUPFD_CLOEXEC, lowest);
}

int32_t clinux_reopen_direct(int32_t descriptor) {
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  return open(path, O_WRONLY | O_DIRECT | O_CLOEXEC);
}

const int32_t clinux_no_access_time = O_NOATIME;
const int32_t clinux_path_only = O_PATH;

int32_t clinux_open_beneath(int32_t folder, const char *path, int32_t flags, uint32_t mode) {
  struct open_how how = {
      .flags = (uint64_t)(uint32_t)(flags | O_CLOEXEC),
      .mode = mode,
      .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
  };
  return (int32_t)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

int32_t clinux_is_open_for_writing(int32_t descriptor) {
  // A process that now opens the file for writing makes the kernel send a signal here; use one that
  // is ignored by default.
  if (fcntl(descriptor, F_SETSIG, SIGURG) < 0) return 0;
  return fcntl(descriptor, F_SETLEASE, F_RDLCK) < 0 && errno == EAGAIN;
}

int32_t clinux_is_folder_without_links(const char *path) {
  struct open_how how = {
      .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
      .resolve = RESOLVE_NO_SYMLINKS,
  };
  int folder = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
  if (folder < 0) return 0;
  close(folder);
  return 1;
}

int32_t clinux_set_nonblocking(int32_t descriptor, int32_t on) {
  int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0) return -1;
  int wanted = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
  return wanted == flags ? 0 : fcntl(descriptor, F_SETFL, wanted);
}

static struct flock byte_lock(int16_t type, int64_t place) {
  struct flock lock = {0};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = place;
  lock.l_len = 1;
  return lock;
}

int32_t clinux_lock_byte(int32_t descriptor, int64_t place) {
  struct flock lock = byte_lock(F_WRLCK, place);
  return fcntl(descriptor, F_OFD_SETLK, &lock);
}

int32_t clinux_unlock_byte(int32_t descriptor, int64_t place) {
  struct flock lock = byte_lock(F_UNLCK, place);
  return fcntl(descriptor, F_OFD_SETLK, &lock);
}

static int32_t is_locked(int32_t descriptor, struct flock lock) {
  if (fcntl(descriptor, F_OFD_GETLK, &lock) < 0) return -1;
  return lock.l_type != F_UNLCK;
}

int32_t clinux_byte_is_locked(int32_t descriptor, int64_t place) {
  return is_locked(descriptor, byte_lock(F_WRLCK, place));
}

int32_t clinux_any_byte_is_locked(int32_t descriptor) {
  struct flock lock = byte_lock(F_WRLCK, 0);
  // Up to the end of any file.
  lock.l_len = 0;
  return is_locked(descriptor, lock);
}

int32_t clinux_readable_bytes(int32_t descriptor) {
  int count = 0;
  return ioctl(descriptor, FIONREAD, &count) < 0 ? -1 : count;
}

int32_t clinux_close_from(uint32_t lowest) {
  if (close_range(lowest, ~0u, 0) == 0) return 0;
  if (errno != ENOSYS) return -1;
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return -1;
  for (uint64_t descriptor = lowest; descriptor < limit.rlim_cur; descriptor++) {
    close((int)descriptor);
  }
  return 0;
}

static int32_t store(int result, const struct stat *from, struct clinux_status *to) {
  if (result < 0) return -1;
  to->device = from->st_dev;
  to->inode = from->st_ino;
  to->size = from->st_size;
  to->modified_seconds = from->st_mtim.tv_sec;
  to->modified_nanoseconds = from->st_mtim.tv_nsec;
  to->changed_seconds = from->st_ctim.tv_sec;
  to->changed_nanoseconds = from->st_ctim.tv_nsec;
  to->links = from->st_nlink;
  to->mode = from->st_mode;
  to->owner = from->st_uid;
  to->group = from->st_gid;
  return 0;
}

int32_t clinux_stat(const char *path, int32_t follow, struct clinux_status *status) {
  struct stat found;
  return store(follow ? stat(path, &found) : lstat(path, &found), &found, status);
}

int32_t clinux_stat_in(int32_t folder, const char *name, struct clinux_status *status) {
  struct stat found;
  return store(fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW), &found, status);
}

int32_t clinux_fstat(int32_t descriptor, struct clinux_status *status) {
  struct stat found;
  return store(fstat(descriptor, &found), &found, status);
}

int32_t clinux_has_access_list(const char *path) {
  return getxattr(path, "system.posix_acl_access", NULL, 0) > 0;
}

int32_t clinux_terminal_size(int32_t descriptor, int32_t *columns, int32_t *rows) {
  struct winsize size;
  if (ioctl(descriptor, TIOCGWINSZ, &size) < 0) return -1;
  *columns = size.ws_col;
  *rows = size.ws_row;
  return 0;
}

int32_t clinux_memory_file(void) { return memfd_create("opflow", MFD_CLOEXEC); }

int32_t clinux_share_lock(int32_t descriptor) {
  struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
  return fcntl(descriptor, F_OFD_SETLK, &lock);
}

int32_t clinux_is_lock_shared(int32_t descriptor) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(descriptor, F_OFD_GETLK, &lock) < 0) return -1;
  return lock.l_type != F_UNLCK;
}
