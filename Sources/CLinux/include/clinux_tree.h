#pragma once
#include <stdint.h>

/// Removes the entry `name` of the open folder `at`, whatever it is, with all that is in it where it is a
/// folder: of any depth, and with any permissions as far as they can be changed. A link is removed and
/// never followed, and what is mounted somewhere in it is not entered. Goes on where something cannot be
/// removed, and then fails with the first error.
///
/// `name` is one component; EINVAL for another.
int32_t clinux_remove_tree(int32_t at, const char *name);

/// Removes all that is in an open folder, and keeps the folder; the rest as above.
int32_t clinux_empty_folder(int32_t folder);

/// How many bytes removing the folder `name` of the open folder `at` would free: what has a further name
/// elsewhere is not counted, nor what lies very deep. 0 where it cannot be looked at.
int64_t clinux_tree_bytes(int32_t at, const char *name);
