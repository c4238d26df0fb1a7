#pragma once
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>

// What the tests need of the kernel and Swift's view of the C library does not offer.

/// A descriptor that polls readable once the process has ended (pidfd_open(2)), or -errno.
int32_t ctest_pidfd_open(int32_t pid);

/// Reaps a child that has ended: its exit code, or its signal as a negative number; -1000 when it
/// is no child or has not ended.
int32_t ctest_reap(int32_t pid);

/// A pipe that no child inherits: 0, or -errno.
int32_t ctest_pipe(int32_t ends[2]);

/// posix_spawn_file_actions_addchdir_np(3).
int32_t ctest_spawn_in_folder(posix_spawn_file_actions_t *actions, const char *folder);

/// A descriptor that polls readable when something in the folder was made, written or renamed
/// (inotify(7)), or -errno.
int32_t ctest_watch_folder(const char *folder);

/// A terminal of that size: the side of the person (posix_openpt(3)), or -errno. `path` is where a
/// program opens its own side.
int32_t ctest_open_terminal(int32_t columns, int32_t rows, char *path, size_t size);

/// Gives a terminal another size, which the programs in its foreground are told. 0, or -errno.
int32_t ctest_resize_terminal(int32_t terminal, int32_t columns, int32_t rows);

/// The flag POSIX_SPAWN_SETSID of posix_spawn(3).
int16_t ctest_spawn_new_session(void);
