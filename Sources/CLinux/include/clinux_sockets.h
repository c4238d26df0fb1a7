#pragma once
#include <stdint.h>

// Unix stream sockets (unix(7)), named in an open folder. A socket address holds 107 bytes, fewer
// than a path may have, so the folder is named through /proc/self/fd.

/// Returns a listening socket, non-blocking and close-on-exec, with mode 0600 from the moment its
/// name exists. The name must be free.
int32_t clinux_socket_listen(int32_t folder, const char *name, int32_t backlog);

struct clinux_peer {
  /// 0 for a process of another PID namespace.
  int32_t pid;
  uint32_t user;
};

/// accept4(2), non-blocking and close-on-exec; also returns the peer (SO_PEERCRED).
int32_t clinux_socket_accept(int32_t listener, struct clinux_peer *peer);

/// socketpair(2), both ends close-on-exec.
int32_t clinux_socket_pair(int32_t *first, int32_t *second);

/// connect(2), close-on-exec. Fails with EAGAIN if the listener's backlog stays full until the
/// timeout, which does not apply to later reads and writes.
int32_t clinux_socket_connect(int32_t folder, const char *name, int64_t timeout_nanoseconds);

/// Connects to a TCP port of the loopback address, non-blocking and close-on-exec, waiting up to
/// `patience_milliseconds`. `connected` is 0 if the connect is still pending then.
int32_t clinux_socket_reach(int32_t is_ipv6, uint16_t port, int32_t patience_milliseconds,
                            int32_t *connected);

/// Returns a TCP socket, close-on-exec, bound to a free port on all addresses, of IPv4 and IPv6 if
/// both exist; it does not listen.
int32_t clinux_socket_reserve(uint16_t *port);

/// Returns a socket, close-on-exec, whose abstract name (unix(7)) contains the port. Fails with
/// EADDRINUSE while another socket of this network namespace has the name.
int32_t clinux_socket_claim(uint16_t port);

/// Makes an inherited Unix stream socket non-blocking and close-on-exec and returns its peer. Fails
/// with ENOTSOCK or EPROTOTYPE for other descriptors.
int32_t clinux_socket_adopt(int32_t descriptor, struct clinux_peer *peer);
