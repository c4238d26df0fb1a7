#define _GNU_SOURCE
#include "clinux_tree.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Entries are named by an open folder and one name, never by a path: others could put a link into a
// path between two calls.

// The number of folders open at once. Deeper folders are moved to the root and removed from there,
// so that neither the depth of a tree nor the length of its paths matters.
enum { MOST_LEVELS = 32 };
// Each pass reads the whole root; another process may keep adding files.
enum { MOST_PASSES = 10000 };

struct removal {
  int root;
  unsigned moved;
  int error;
};

static void note(struct removal *removal) {
  if (removal->error == 0) removal->error = errno;
}

static int is_own(const char *name) {
  return name[0] == '.' && (name[1] == 0 || (name[1] == '.' && name[2] == 0));
}

// Before kernel 5.8 this compares file systems instead of mounts.
static int are_of_one_mount(int folder, int child) {
  struct statx one, other;
  unsigned mask = STATX_BASIC_STATS | STATX_MNT_ID;
  if (statx(folder, "", AT_EMPTY_PATH, mask, &one) < 0) return -1;
  if (statx(child, "", AT_EMPTY_PATH, mask, &other) < 0) return -1;
  if (one.stx_dev_major != other.stx_dev_major || one.stx_dev_minor != other.stx_dev_minor) {
    return 0;
  }
  if ((one.stx_mask & other.stx_mask & STATX_MNT_ID) == 0) return 1;
  return one.stx_mnt_id == other.stx_mnt_id;
}

static int open_without_openat2(int at, const char *name, int flags) {
  int child = openat(at, name, flags);
  if (child < 0) return -1;
  int is_here = are_of_one_mount(at, child);
  if (is_here == 1) return child;
  int error = is_here < 0 ? errno : EXDEV;
  close(child);
  errno = error;
  return -1;
}

// Fails for links and other mounts.
static int open_child(int at, const char *name, int flags) {
  flags |= O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  struct open_how how = {
      .flags = (uint64_t)flags, .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV | RESOLVE_BENEATH};
  int child = (int)syscall(SYS_openat2, at, name, &how, sizeof how);
  // Linux before 5.6, or a seccomp filter older than the call.
  if (child < 0 && (errno == ENOSYS || errno == EPERM)) {
    return open_without_openat2(at, name, flags);
  }
  return child;
}

// Opens a folder and makes it readable and writable.
static int open_folder(int at, const char *name) {
  int folder = open_child(at, name, O_RDONLY);
  if (folder < 0 && errno == EACCES) {
    int place = open_child(at, name, O_PATH);
    if (place < 0) return -1;
    // This path refers to the open folder; no name is looked up.
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", place);
    int result = chmod(path, 0700);
    int error = errno;
    close(place);
    errno = error;
    if (result < 0) return -1;
    folder = open_child(at, name, O_RDONLY);
  }
  if (folder < 0) return -1;
  struct stat status;
  // If this fails, removing the entries reports the error.
  if (fstat(folder, &status) == 0 && (status.st_mode & 0700) != 0700) (void)fchmod(folder, 0700);
  return folder;
}

// Removes a file, a link or an empty folder; returns true if it is gone.
static int remove_plain(int folder, const char *name) {
  if (unlinkat(folder, name, 0) == 0 || errno == ENOENT) return 1;
  return unlinkat(folder, name, AT_REMOVEDIR) == 0 || errno == ENOENT;
}

// Moves a folder to the root. An empty folder that this replaces would be removed anyway.
static int move_up(struct removal *removal, int folder, const char *name) {
  char new[32];
  do {
    snprintf(new, sizeof new, ".opflow-%u", ++removal->moved);
    if (renameat(folder, name, removal->root, new) == 0) return 0;
  } while (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR);
  return -1;
}

static int empty(struct removal *removal, int folder, int level);

// Returns the number of entries removed or moved.
static int remove_entry(struct removal *removal, int folder, const char *name, int level) {
  if (remove_plain(folder, name)) return 1;
  int child = open_folder(folder, name);
  if (child < 0) {
    note(removal);
    return 0;
  }
  if (level == MOST_LEVELS) {
    int is_moved = move_up(removal, folder, name) == 0;
    if (!is_moved) note(removal);
    close(child);
    return is_moved;
  }
  int count = empty(removal, child, level + 1);
  if (unlinkat(folder, name, AT_REMOVEDIR) == 0) return count + 1;
  note(removal);
  return count;
}

// Empties a folder in one pass and closes it. Returns the number of entries removed or moved.
static int empty(struct removal *removal, int folder, int level) {
  DIR *stream = fdopendir(folder);
  if (stream == NULL) {
    note(removal);
    close(folder);
    return 0;
  }
  int count = 0;
  struct dirent *entry;
  while ((entry = readdir(stream)) != NULL) {
    if (!is_own(entry->d_name)) count += remove_entry(removal, folder, entry->d_name, level);
  }
  closedir(stream);
  return count;
}

int32_t clinux_empty_folder(int32_t folder) {
  struct removal removal = {.root = folder};
  for (int pass = 0; pass < MOST_PASSES; pass++) {
    removal.error = 0;
    int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (again < 0) return -1;
    int count = empty(&removal, again, 0);
    if (count == 0) {
      errno = removal.error;
      return removal.error == 0 ? 0 : -1;
    }
  }
  errno = EBUSY;
  return -1;
}

int32_t clinux_remove_tree(int32_t at, const char *name) {
  if (name[0] == 0 || is_own(name) || strchr(name, '/') != NULL) {
    errno = EINVAL;
    return -1;
  }
  if (remove_plain(at, name)) return 0;
  int folder = open_folder(at, name);
  if (folder < 0) return -1;
  int result = clinux_empty_folder(folder);
  int error = errno;
  close(folder);
  if (unlinkat(at, name, AT_REMOVEDIR) == 0 || errno == ENOENT) return 0;
  if (result < 0) errno = error;
  return -1;
}

// Adds up the sizes in a folder and closes it.
static int64_t measure(int folder, int level) {
  DIR *stream = fdopendir(folder);
  if (stream == NULL) {
    close(folder);
    return 0;
  }
  int64_t bytes = 0;
  struct dirent *entry;
  while ((entry = readdir(stream)) != NULL) {
    struct stat status;
    if (is_own(entry->d_name)) continue;
    if (fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0) continue;
    int is_folder = S_ISDIR(status.st_mode);
    if (is_folder || status.st_nlink == 1) bytes += (int64_t)status.st_blocks * 512;
    if (!is_folder || level == MOST_LEVELS) continue;
    int child = open_child(folder, entry->d_name, O_RDONLY);
    if (child >= 0) bytes += measure(child, level + 1);
  }
  closedir(stream);
  return bytes;
}

int64_t clinux_tree_bytes(int32_t at, const char *name) {
  int folder = open_child(at, name, O_RDONLY);
  return folder < 0 ? 0 : measure(folder, 0);
}
