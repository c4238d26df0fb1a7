#pragma once
#include <stdint.h>

struct clinux_syncer;

/// Starts a thread that calls fdatasync(2) on `descriptor` on request and then adds one to the
/// eventfd `notify`. Returns NULL with errno on failure.
struct clinux_syncer *clinux_syncer_start(int32_t descriptor, int32_t notify);

/// Requests a sync of everything written so far, with the caller's increasing number `sequence`.
/// `first`, unless -1, is a descriptor of another file, which is synced before and closed. It
/// replaces the waiting `first` of an earlier request: both must be of the same file.
void clinux_syncer_request(struct clinux_syncer *syncer, uint64_t sequence, int32_t first);

/// Sets the number of the last synced request. Returns 0, or the errno of the first failed sync,
/// after which nothing is synced.
int32_t clinux_syncer_result(struct clinux_syncer *syncer, uint64_t *sequence);

/// Finishes pending requests and ends the thread.
void clinux_syncer_stop(struct clinux_syncer *syncer);
