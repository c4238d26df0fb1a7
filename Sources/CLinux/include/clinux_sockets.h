#pragma once
#include <stdint.h>

// Stream sockets of the Unix domain (unix(7)), by their name in an open folder: an address holds 107
// bytes, which is less than a path may have, so the folder is named through /proc/self/fd.

/// A socket that listens, non-blocking and close-on-exec, for its owner alone (mode 0600) from the moment
/// that its name is there. The name must be free.
int32_t clinux_socket_listen(int32_t folder, const char *name, int32_t backlog);

struct clinux_peer {
  /// 0 where it is not to be told: a process of another PID namespace.
  int32_t pid;
  uint32_t user;
};

/// accept4(2), non-blocking and close-on-exec, with who connected (SO_PEERCRED).
int32_t clinux_socket_accept(int32_t listener, struct clinux_peer *peer);

/// socketpair(2), both ends close-on-exec.
int32_t clinux_socket_pair(int32_t *first, int32_t *second);

/// connect(2), close-on-exec. Fails with EAGAIN when nobody took the connection for so long, though somebody
/// listens. What is read and written then waits without end.
int32_t clinux_socket_connect(int32_t folder, const char *name, int64_t timeout_nanoseconds);

/// connect(2) of TCP to a port of this machine's loopback, non-blocking and close-on-exec: `connected` is 0
/// where it goes on after so many milliseconds, which it is waited for.
int32_t clinux_socket_reach(int32_t is_ipv6, uint16_t port, int32_t patience_milliseconds,
                            int32_t *connected);

/// A TCP socket, close-on-exec, bound to a port that nobody has on any address of this machine, of both versions
/// of IP where there are both; it does not listen.
int32_t clinux_socket_reserve(uint16_t *port);

/// A socket, close-on-exec, with an abstract name (unix(7)) made of that number: fails with EADDRINUSE while
/// another one has it, in this network namespace.
int32_t clinux_socket_claim(uint16_t port);

/// Makes a stream socket of the Unix domain, which this process was started with, non-blocking and
/// close-on-exec, and tells who is at its other end. Fails with ENOTSOCK or EPROTOTYPE for another descriptor.
int32_t clinux_socket_adopt(int32_t descriptor, struct clinux_peer *peer);
