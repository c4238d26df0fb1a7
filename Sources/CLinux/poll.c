#define _GNU_SOURCE
#include "clinux_poll.h"
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <time.h>

enum { EVENTS_AT_ONCE = 256, WATCHED_AT_ONCE = 8 };

int32_t clinux_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

int32_t clinux_epoll_control(
    int32_t epoll, int32_t operation, int32_t descriptor, uint32_t interest, uint64_t token) {
  struct epoll_event event = {0};
  if (interest & CLINUX_READABLE) event.events |= EPOLLIN;
  if (interest & CLINUX_WRITABLE) event.events |= EPOLLOUT;
  event.data.u64 = token;
  int code = operation == CLINUX_ADD ? EPOLL_CTL_ADD
      : operation == CLINUX_REMOVE   ? EPOLL_CTL_DEL
                                     : EPOLL_CTL_MOD;
  return epoll_ctl(epoll, code, descriptor, &event);
}

static struct timespec timespec_of(int64_t nanoseconds) {
  return (struct timespec){.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
}

static int wait_for_events(int epoll, struct epoll_event *found, int capacity, int64_t timeout) {
  static _Atomic int has_no_pwait2;
  if (!atomic_load_explicit(&has_no_pwait2, memory_order_relaxed)) {
    struct timespec time = timespec_of(timeout < 0 ? 0 : timeout);
    int count = epoll_pwait2(epoll, found, capacity, timeout < 0 ? NULL : &time, NULL);
    // EPERM comes from a seccomp filter older than the call.
    if (count >= 0 || (errno != ENOSYS && errno != EPERM)) return count;
    atomic_store_explicit(&has_no_pwait2, 1, memory_order_relaxed);
  }
  int64_t milliseconds = timeout < 0 ? -1 : (timeout + 999999) / 1000000;
  if (milliseconds > INT_MAX) milliseconds = INT_MAX;
  return epoll_wait(epoll, found, capacity, (int)milliseconds);
}

int32_t clinux_epoll_wait(
    int32_t epoll, struct clinux_event *events, int32_t capacity, int64_t timeout_nanoseconds) {
  struct epoll_event found[EVENTS_AT_ONCE];
  if (capacity > EVENTS_AT_ONCE) capacity = EVENTS_AT_ONCE;
  int count = wait_for_events(epoll, found, capacity, timeout_nanoseconds);
  for (int i = 0; i < count; i++) {
    uint32_t bits = found[i].events;
    events[i].token = found[i].data.u64;
    events[i].readiness = (bits & EPOLLIN ? CLINUX_READABLE : 0) |
        (bits & EPOLLOUT ? CLINUX_WRITABLE : 0) | (bits & EPOLLHUP ? CLINUX_HANGUP : 0) |
        (bits & EPOLLERR ? CLINUX_ERROR : 0);
  }
  return count;
}

int32_t clinux_poll(struct clinux_watched *watched, int32_t count, int64_t timeout_nanoseconds) {
  struct pollfd set[WATCHED_AT_ONCE];
  if (count > WATCHED_AT_ONCE) {
    errno = EINVAL;
    return -1;
  }
  for (int i = 0; i < count; i++) {
    set[i].fd = watched[i].descriptor;
    set[i].events = (short)((watched[i].interest & CLINUX_READABLE ? POLLIN : 0) |
                            (watched[i].interest & CLINUX_WRITABLE ? POLLOUT : 0));
    set[i].revents = 0;
  }
  struct timespec time = timespec_of(timeout_nanoseconds < 0 ? 0 : timeout_nanoseconds);
  int ready = ppoll(set, (nfds_t)count, timeout_nanoseconds < 0 ? NULL : &time, NULL);
  if (ready < 0) return -1;
  for (int i = 0; i < count; i++) {
    short bits = set[i].revents;
    watched[i].readiness = (bits & POLLIN ? CLINUX_READABLE : 0) |
        (bits & POLLOUT ? CLINUX_WRITABLE : 0) | (bits & POLLHUP ? CLINUX_HANGUP : 0) |
        (bits & (POLLERR | POLLNVAL) ? CLINUX_ERROR : 0);
  }
  return ready;
}

int32_t clinux_event_descriptor(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

int32_t clinux_watch_create(void) { return inotify_init1(IN_CLOEXEC | IN_NONBLOCK); }

int32_t clinux_watch_folder(int32_t watch, const char *path) {
  int added = inotify_add_watch(watch, path, IN_CREATE | IN_MODIFY | IN_MOVED_TO | IN_CLOSE_WRITE);
  return added < 0 ? -1 : 0;
}

int32_t clinux_watch_file(int32_t watch, const char *path) {
  return inotify_add_watch(watch, path, IN_MODIFY) < 0 ? -1 : 0;
}

int32_t clinux_watch_names(int32_t watch, const char *path) {
  return inotify_add_watch(watch, path, IN_CREATE | IN_MOVED_TO) < 0 ? -1 : 0;
}
