#pragma once
#include <stddef.h>
#include <stdint.h>

enum {
  CLINUX_READABLE = 1,
  CLINUX_WRITABLE = 2,
  CLINUX_HANGUP = 4,
  CLINUX_ERROR = 8,
};

enum {
  CLINUX_ADD = 1,
  CLINUX_REMOVE = 2,
  CLINUX_MODIFY = 3,
};

struct clinux_event {
  uint64_t token;
  uint32_t readiness;
};

int32_t clinux_epoll_create(void);

/// epoll_ctl(2), level-triggered.
int32_t clinux_epoll_control(
    int32_t epoll, int32_t operation, int32_t descriptor, uint32_t interest, uint64_t token);

/// Waits until a descriptor is ready or the time is over (negative: forever). Returns at most
/// `capacity` events and at most 256. Uses epoll_pwait2(2); before kernel 5.11 epoll_wait(2),
/// rounding up to milliseconds.
int32_t clinux_epoll_wait(
    int32_t epoll, struct clinux_event *events, int32_t capacity, int64_t timeout_nanoseconds);

struct clinux_watched {
  /// Ignored if negative.
  int32_t descriptor;
  uint32_t interest;
  uint32_t readiness;
};

/// ppoll(2) for at most 8 descriptors; keeps the signal mask.
int32_t clinux_poll(struct clinux_watched *watched, int32_t count, int64_t timeout_nanoseconds);

/// eventfd(2), close-on-exec and non-blocking.
int32_t clinux_event_descriptor(void);

/// inotify_init1(2), close-on-exec and non-blocking.
int32_t clinux_watch_create(void);

/// Makes `watch` readable when a file in the folder is created, moved there, written, or closed
/// after writing (inotify_add_watch(2)).
int32_t clinux_watch_folder(int32_t watch, const char *path);

/// Makes `watch` readable when the file is written, even after a rename.
int32_t clinux_watch_file(int32_t watch, const char *path);

/// Makes `watch` readable when a file is created in the folder or moved there.
int32_t clinux_watch_names(int32_t watch, const char *path);
