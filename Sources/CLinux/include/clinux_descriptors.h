#pragma once
#include <stddef.h>
#include <stdint.h>

/// strerror_r(3), XSI version: always writes a zero-terminated text.
void clinux_error_text(int32_t number, char *buffer, size_t size);

struct clinux_pipe_ends {
  int32_t read;
  int32_t write;
};

/// pipe2(2), O_CLOEXEC.
int32_t clinux_pipe(struct clinux_pipe_ends *ends);

/// ioctl(2), FIONREAD.
int32_t clinux_readable_bytes(int32_t descriptor);

/// Opens closed standard descriptors on /dev/null. Without /dev/null it uses pipes whose other end
/// is closed.
int32_t clinux_open_standard_streams(void);

/// fcntl(2), F_DUPFD_CLOEXEC.
int32_t clinux_duplicate(int32_t descriptor, int32_t lowest);

/// sync_file_range(2), SYNC_FILE_RANGE_WRITE, for the whole file.
int32_t clinux_begin_writing(int32_t descriptor);

int32_t clinux_reopen_direct(int32_t descriptor);

/// open(2), O_NOATIME and O_PATH.
extern const int32_t clinux_no_access_time;
extern const int32_t clinux_path_only;

/// Opens `path` below the open folder without following links (openat2(2)). Fails with EXDEV or
/// ELOOP if it leads elsewhere.
int32_t clinux_open_beneath(int32_t folder, const char *path, int32_t flags, uint32_t mode);

/// Returns 1 if the file, open for reading, is also open for writing or mapped writable (fcntl(2),
/// F_SETLEASE). Returns 0 if not, or if unknown: only the owner may check, and not on every file
/// system. Close the descriptor at once: until then, others cannot open the file for writing.
int32_t clinux_is_open_for_writing(int32_t descriptor);

/// Returns 1 if `path` is a folder reached without links (openat2(2)); 0 if not, or if one call
/// cannot show it.
int32_t clinux_is_folder_without_links(const char *path);

int32_t clinux_set_nonblocking(int32_t descriptor, int32_t on);

/// Locks one byte exclusively for the open file (fcntl(2), F_OFD_SETLK). Fails with EAGAIN if
/// another open file holds the lock.
int32_t clinux_lock_byte(int32_t descriptor, int64_t place);

int32_t clinux_unlock_byte(int32_t descriptor, int64_t place);

/// Returns 1 if another open file holds the lock, else 0 (F_OFD_GETLK).
int32_t clinux_byte_is_locked(int32_t descriptor, int64_t place);

int32_t clinux_any_byte_is_locked(int32_t descriptor);

/// close_range(2) from `lowest` on; closes one by one before kernel 5.9.
int32_t clinux_close_from(uint32_t lowest);

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
/// Returns 1 if the file has an access control list, else 0. The group bits are then its mask.
int32_t clinux_has_access_list(const char *path);

/// ioctl_tty(2), TIOCGWINSZ.
int32_t clinux_terminal_size(int32_t descriptor, int32_t *columns, int32_t *rows);

/// memfd_create(2), close-on-exec.
int32_t clinux_memory_file(void);

/// Takes a shared lock of the whole file for the open file (fcntl(2), F_OFD_SETLK).
int32_t clinux_share_lock(int32_t descriptor);

/// Returns 1 if another open file holds such a lock, else 0 (fcntl(2), F_OFD_GETLK). Does not lock,
/// so others do not notice it.
int32_t clinux_is_lock_shared(int32_t descriptor);
