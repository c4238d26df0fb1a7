#pragma once
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>

// Functions that the tests need and that Swift's view of the C library lacks.

/// Returns a descriptor that is readable once the process has ended (pidfd_open(2)), or -errno.
int32_t ctest_pidfd_open(int32_t pid);

/// Reaps an ended child. Returns its exit code, or a negative signal number; -1000 if it has not
/// ended or is not a child.
int32_t ctest_reap(int32_t pid);

/// Creates a pipe that children do not inherit. Returns 0 or -errno.
int32_t ctest_pipe(int32_t ends[2]);

/// posix_spawn_file_actions_addchdir_np(3).
int32_t ctest_spawn_in_folder(posix_spawn_file_actions_t *actions, const char *folder);

/// Returns a descriptor that is readable after a file in the folder was created, written or renamed
/// (inotify(7)), or -errno.
int32_t ctest_watch_folder(const char *folder);

/// Opens a terminal of this size and returns its master side (posix_openpt(3)), or -errno. Programs
/// open the other side at `path`.
int32_t ctest_open_terminal(int32_t columns, int32_t rows, char *path, size_t size);

/// Resizes a terminal, which signals its foreground programs. Returns 0 or -errno.
int32_t ctest_resize_terminal(int32_t terminal, int32_t columns, int32_t rows);

/// The flag POSIX_SPAWN_SETSID of posix_spawn(3).
int16_t ctest_spawn_new_session(void);
