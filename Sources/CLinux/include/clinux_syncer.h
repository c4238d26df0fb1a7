#pragma once
#include <stdint.h>

struct clinux_syncer;

/// Starts a thread that calls fdatasync(2) on `descriptor` when it is asked to, adds one to the
/// eventfd `notify` after each, and does nothing else. NULL with errno set when it cannot start.
struct clinux_syncer *clinux_syncer_start(int32_t descriptor, int32_t notify);

/// Asks for a sync that covers everything written so far, which the caller numbers `sequence`.
///
/// `first`, unless it is -1, is a descriptor of another file that is synced before, and closed then. Where one of an
/// earlier request still waits, it takes that one's place: both must be of the same file.
void clinux_syncer_request(struct clinux_syncer *syncer, uint64_t sequence, int32_t first);

/// The number that the last completed sync covers. Returns 0, or the errno of the first sync that
/// failed: after that none is tried again.
int32_t clinux_syncer_result(struct clinux_syncer *syncer, uint64_t *sequence);

/// Lets the thread finish what was asked, and ends it.
void clinux_syncer_stop(struct clinux_syncer *syncer);
