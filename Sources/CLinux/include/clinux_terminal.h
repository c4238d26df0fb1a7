#pragma once
#include <stdint.h>

/// Opens the terminal of this process's session for reading and writing: by its own name where that
/// leads to it, since some programs refuse the name /dev/tty, else by that one (tty(4)). Fails with
/// ENXIO where the session has none.
int32_t clinux_open_terminal(void);

/// What termios(3) says of a terminal, to be given back as it is.
struct clinux_terminal_modes {
  uint64_t words[8];
};

/// tcgetattr(3).
int32_t clinux_terminal_modes(int32_t descriptor, struct clinux_terminal_modes *modes);

/// tcsetattr(3) at once, if they are others than those: what was typed stays to be read, and output that
/// is held back holds nobody. Not stopped by SIGTTOU in the background.
int32_t clinux_set_terminal_modes(int32_t descriptor, const struct clinux_terminal_modes *modes);

/// Has those modes given back to the terminal when a signal ends this process that it neither blocks nor ignores (QUIT,
/// and those of its own faults), with the cursor shown. `descriptor` -1: nothing is to be given back any more. One
/// terminal at a time.
void clinux_give_back_at_death(int32_t descriptor, const struct clinux_terminal_modes *modes);

/// The same modes for who reads single keys: no lines are gathered and nothing is echoed (ICANON, ECHO), a
/// read returns at once (VMIN, VTIME), and Ctrl-C and its like stay signals (ISIG).
void clinux_key_modes(
    const struct clinux_terminal_modes *modes, struct clinux_terminal_modes *keys);

/// read(2) from a terminal. Not stopped by SIGTTIN in the background, where it fails with EIO.
int64_t clinux_read_keys(int32_t descriptor, void *buffer, uint64_t size);

/// tcsetpgrp(3). Not stopped by SIGTTOU in the background.
int32_t clinux_set_foreground(int32_t descriptor, int32_t group);
