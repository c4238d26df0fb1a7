#define _GNU_SOURCE
#include "clinux_sockets.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

// Closes a descriptor after a failed call; keeps errno.
static int32_t give_up(int descriptor) {
  int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

static int address_of(int folder, const char *name, struct sockaddr_un *address) {
  *address = (struct sockaddr_un){.sun_family = AF_UNIX};
  size_t room = sizeof address->sun_path;
  int length = snprintf(address->sun_path, room, "/proc/self/fd/%d/%s", folder, name);
  if (length > 0 && (size_t)length < room) return 0;
  errno = ENAMETOOLONG;
  return -1;
}

int32_t clinux_socket_listen(int32_t folder, const char *name, int32_t backlog) {
  struct sockaddr_un address;
  if (address_of(folder, name, &address) < 0) return -1;
  int made = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (made < 0) return -1;
  // At bind the name gets the socket's mode, less the umask. So others can never connect, and the
  // umask, which all threads share, need not change.
  if (fchmod(made, S_IRUSR | S_IWUSR) < 0) return give_up(made);
  if (bind(made, (struct sockaddr *)&address, sizeof address) < 0) return give_up(made);
  if (listen(made, backlog) < 0) return give_up(made);
  return made;
}

int32_t clinux_socket_pair(int32_t *first, int32_t *second) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) return -1;
  *first = ends[0];
  *second = ends[1];
  return 0;
}

static int tell_peer(int descriptor, struct clinux_peer *peer) {
  struct ucred who = {0};
  socklen_t size = sizeof who;
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &who, &size) < 0) return -1;
  peer->pid = who.pid;
  peer->user = who.uid;
  return 0;
}

int32_t clinux_socket_adopt(int32_t descriptor, struct clinux_peer *peer) {
  int domain = 0, type = 0;
  socklen_t size = sizeof domain;
  if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) < 0) return -1;
  size = sizeof type;
  if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) < 0) return -1;
  if (domain != AF_UNIX || type != SOCK_STREAM) {
    errno = EPROTOTYPE;
    return -1;
  }
  if (tell_peer(descriptor, peer) < 0) return -1;
  int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0 || fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) < 0) return -1;
  return fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

int32_t clinux_socket_accept(int32_t listener, struct clinux_peer *peer) {
  int taken = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (taken < 0) return -1;
  if (tell_peer(taken, peer) < 0) return give_up(taken);
  return taken;
}

// Sets the timeout of blocking writes, which includes connect.
static int set_patience(int descriptor, int64_t nanoseconds) {
  struct timeval time = {
      .tv_sec = nanoseconds / 1000000000, .tv_usec = nanoseconds % 1000000000 / 1000};
  return setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

int32_t clinux_socket_connect(int32_t folder, const char *name, int64_t timeout_nanoseconds) {
  struct sockaddr_un address;
  if (address_of(folder, name, &address) < 0) return -1;
  int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made < 0) return -1;
  // 0 would mean no timeout.
  int64_t least = 1000;
  if (set_patience(made, timeout_nanoseconds > least ? timeout_nanoseconds : least) < 0) {
    return give_up(made);
  }
  // An interrupted connect has not begun: repeat it.
  while (connect(made, (struct sockaddr *)&address, sizeof address) < 0) {
    if (errno != EINTR) return give_up(made);
  }
  if (set_patience(made, 0) < 0) return give_up(made);
  return made;
}

// Waits for a pending connect: 1 if connected, 0 after the timeout, -1 on failure.
static int is_connected(int descriptor, int32_t patience_milliseconds) {
  struct pollfd watched = {.fd = descriptor, .events = POLLOUT};
  if (poll(&watched, 1, patience_milliseconds) <= 0) return 0;
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) < 0) return -1;
  if (error == 0) return 1;
  errno = error;
  return -1;
}

int32_t clinux_socket_reach(int32_t is_ipv6, uint16_t port, int32_t patience_milliseconds,
                            int32_t *connected) {
  struct sockaddr_in four = {.sin_family = AF_INET,
                             .sin_port = htons(port),
                             .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  struct sockaddr_in6 six = {.sin6_family = AF_INET6,
                             .sin6_port = htons(port),
                             .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  int made = socket(is_ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (made < 0) return -1;
  int result = is_ipv6 ? connect(made, (struct sockaddr *)&six, sizeof six)
                       : connect(made, (struct sockaddr *)&four, sizeof four);
  *connected = result == 0;
  // An interrupted connect continues in the background, like a non-blocking one.
  if (result < 0 && errno != EINPROGRESS && errno != EINTR) return give_up(made);
  if (result < 0 && patience_milliseconds > 0) {
    int state = is_connected(made, patience_milliseconds);
    if (state < 0) return give_up(made);
    *connected = state;
  }
  return made;
}

// Binds a TCP socket to a free port on all addresses.
static int bind_anywhere(int family, uint16_t *port) {
  int made = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made < 0) return -1;
  struct sockaddr_in four = {.sin_family = AF_INET};
  struct sockaddr_in6 six = {.sin6_family = AF_INET6};
  int no = 0;
  if (family == AF_INET6 && setsockopt(made, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no) < 0) {
    return give_up(made);
  }
  int bound = family == AF_INET6 ? bind(made, (struct sockaddr *)&six, sizeof six)
                                 : bind(made, (struct sockaddr *)&four, sizeof four);
  if (bound < 0) return give_up(made);
  socklen_t size = family == AF_INET6 ? sizeof six : sizeof four;
  if (getsockname(made, family == AF_INET6 ? (struct sockaddr *)&six : (struct sockaddr *)&four,
                  &size) < 0) {
    return give_up(made);
  }
  *port = ntohs(family == AF_INET6 ? six.sin6_port : four.sin_port);
  return made;
}

int32_t clinux_socket_reserve(uint16_t *port) {
  int made = bind_anywhere(AF_INET6, port);
  return made >= 0 ? made : bind_anywhere(AF_INET, port);
}

int32_t clinux_socket_claim(uint16_t port) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  // The name follows the leading zero of an abstract name.
  int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "opflow-port-%u", port);
  int made = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (made < 0) return -1;
  socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
  if (bind(made, (struct sockaddr *)&address, size) < 0) return give_up(made);
  return made;
}
