#pragma once
#include <stdint.h>

/// Signal sets are bit masks: signal N is bit N - 1.

int32_t clinux_block_signals(uint64_t signals);

int32_t clinux_unblock_signals(uint64_t signals);

/// signalfd(2), close-on-exec and non-blocking. The signals must be blocked.
int32_t clinux_signal_descriptor(uint64_t signals);

struct clinux_signal {
  uint32_t number;
  int32_t sender;
};

/// Reads one pending signal, or fails with EAGAIN.
int32_t clinux_read_signal(int32_t descriptor, struct clinux_signal *signal);

int32_t clinux_ignore_signal(int32_t number);
int32_t clinux_default_signal(int32_t number);

int32_t clinux_is_ignored(int32_t number);

/// Sets default actions, also for signals ignored at exec, except an ignored SIGHUP.
void clinux_reset_dispositions(void);

/// Makes SIGBUS (a truncated or unreadable mapped file) write `text` to standard error and exit
/// with code 74. `text` must stay valid forever.
int32_t clinux_exit_on_bus_error(const char *text);
