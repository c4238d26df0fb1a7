#pragma once
#include <stddef.h>
#include <stdint.h>

/// strerror_r(3) in its XSI form: always writes a text that ends with a zero.
void clinux_error_text(int32_t number, char *buffer, size_t size);

struct clinux_pipe_ends {
  int32_t read;
  int32_t write;
};

/// pipe2(2) with O_CLOEXEC.
int32_t clinux_pipe(struct clinux_pipe_ends *ends);

/// ioctl(2), FIONREAD: how many bytes can be read; -1 with errno.
int32_t clinux_readable_bytes(int32_t descriptor);

/// Opens those of the three standard descriptors that are closed, on /dev/null, so that no file which
/// is opened later gets one of their numbers. Where there is no /dev/null they are pipes without
/// another end.
int32_t clinux_open_standard_streams(void);

/// fcntl(2), F_DUPFD_CLOEXEC: the lowest free descriptor from `lowest` on.
int32_t clinux_duplicate(int32_t descriptor, int32_t lowest);

/// sync_file_range(2), SYNC_FILE_RANGE_WRITE: begins to write all that is to be written of a file.
int32_t clinux_begin_writing(int32_t descriptor);

/// Opens the file of `descriptor` once more, for writing and with O_DIRECT.
int32_t clinux_reopen_direct(int32_t descriptor);

/// open(2), O_NOATIME and O_PATH.
extern const int32_t clinux_no_access_time;
extern const int32_t clinux_path_only;

/// openat2(2): opens `path`, which must lie below the open folder, with no link on the way or at its end.
/// Fails with EXDEV or ELOOP where it does not.
int32_t clinux_open_beneath(int32_t folder, const char *path, int32_t flags, uint32_t mode);

/// fcntl(2), F_SETLEASE: 1 where a file that is open for reading is open for writing somewhere, or mapped so. 0 where
/// it is not, or where that cannot be found out: a lease is given to the owner only, and not by every file system.
/// Close the descriptor at once: until then the lease keeps others from opening the file for writing.
int32_t clinux_is_open_for_writing(int32_t descriptor);

/// openat2(2): 1 where `path` is a folder and no link is on the way to it or at its end. 0 where it is not,
/// or where that cannot be found out in one call.
int32_t clinux_is_folder_without_links(const char *path);

/// fcntl(2), F_SETFL with O_NONBLOCK added or taken away.
int32_t clinux_set_nonblocking(int32_t descriptor, int32_t on);

/// Takes a lock of the open file on one byte of it (fcntl(2), F_OFD_SETLK), for this holder alone. Fails with
/// EAGAIN where somebody else has it.
int32_t clinux_lock_byte(int32_t descriptor, int64_t place);

/// Gives it up.
int32_t clinux_unlock_byte(int32_t descriptor, int64_t place);

/// 1 where another open file has it, 0 where none has (F_OFD_GETLK).
int32_t clinux_byte_is_locked(int32_t descriptor, int64_t place);

/// The same of all bytes.
int32_t clinux_any_byte_is_locked(int32_t descriptor);

/// close_range(2) from `lowest` on; closes one by one where the kernel has no such call (before 5.9).
int32_t clinux_close_from(uint32_t lowest);

/// What stat(2) says, as far as it is used here.
struct clinux_status {
  uint64_t device;
  uint64_t inode;
  int64_t size;
  int64_t modified_seconds;
  int64_t modified_nanoseconds;
  int64_t changed_seconds;
  int64_t changed_nanoseconds;
  uint64_t links;
  uint32_t mode;
  uint32_t owner;
  uint32_t group;
};

int32_t clinux_stat(const char *path, int32_t follow, struct clinux_status *status);
/// fstatat(2), AT_SYMLINK_NOFOLLOW.
int32_t clinux_stat_in(int32_t folder, const char *name, struct clinux_status *status);
int32_t clinux_fstat(int32_t descriptor, struct clinux_status *status);
/// 1 where the file has an access control list beside its permission bits, of which the group's are then the mask; else 0.
int32_t clinux_has_access_list(const char *path);

/// Columns and rows of the terminal at `descriptor` (ioctl TIOCGWINSZ).
int32_t clinux_terminal_size(int32_t descriptor, int32_t *columns, int32_t *rows);

/// A file without a name, in memory (memfd_create(2)); close-on-exec. -1 with errno when there is none.
int32_t clinux_memory_file(void);

/// fcntl(2), F_OFD_SETLK: takes a shared lock of the whole file, which is the open file's.
int32_t clinux_share_lock(int32_t descriptor);

/// fcntl(2), F_OFD_GETLK: 1 where another open file has such a lock, else 0. Takes none itself, so that nobody sees it
/// look.
int32_t clinux_is_lock_shared(int32_t descriptor);
