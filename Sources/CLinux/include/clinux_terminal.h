#pragma once
#include <stdint.h>

/// Opens the controlling terminal by its own name if possible, since some programs refuse /dev/tty,
/// else as /dev/tty (tty(4)). Fails with ENXIO without one.
int32_t clinux_open_terminal(void);

/// Opaque settings of a terminal (termios(3)).
struct clinux_terminal_modes {
  uint64_t words[8];
};

/// tcgetattr(3).
int32_t clinux_terminal_modes(int32_t descriptor, struct clinux_terminal_modes *modes);

/// tcsetattr(3), TCSANOW, if the settings differ: unread input stays, and held-back output does not
/// block the call. SIGTTOU does not stop it in the background.
int32_t clinux_set_terminal_modes(int32_t descriptor, const struct clinux_terminal_modes *modes);

/// Restores these settings, and shows the cursor, when this process dies of QUIT or of a fault,
/// unless the signal is ignored. `descriptor` -1 ends that. For one terminal at a time.
void clinux_give_back_at_death(int32_t descriptor, const struct clinux_terminal_modes *modes);

/// Derives settings for reading single keys: no line buffering or echo (ICANON, ECHO), reads return
/// at once (VMIN, VTIME), and keys such as Ctrl-C still send signals (ISIG).
void clinux_key_modes(
    const struct clinux_terminal_modes *modes, struct clinux_terminal_modes *keys);

/// read(2) from a terminal. In the background it fails with EIO instead of being stopped by
/// SIGTTIN.
int64_t clinux_read_keys(int32_t descriptor, void *buffer, uint64_t size);

/// tcsetpgrp(3). SIGTTOU does not stop it in the background.
int32_t clinux_set_foreground(int32_t descriptor, int32_t group);
