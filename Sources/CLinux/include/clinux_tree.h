#pragma once
#include <stdint.h>

/// Removes the entry `name` of the open folder `at` with everything in it, at any depth, changing
/// permissions where needed. Does not follow links or enter mounts. Continues after errors, then
/// fails with the first one. EINVAL unless `name` is one component.
int32_t clinux_remove_tree(int32_t at, const char *name);

/// Removes everything in an open folder in the same way, but keeps the folder.
int32_t clinux_empty_folder(int32_t folder);

/// The number of bytes that removing the folder `name` in `at` would free, without files that have
/// links elsewhere and without very deep folders. 0 if unreadable.
int64_t clinux_tree_bytes(int32_t at, const char *name);
