#pragma once
#include <stddef.h>
#include <stdint.h>

/// CLOCK_MONOTONIC in nanoseconds.
int64_t clinux_monotonic_nanoseconds(void);

/// CLOCK_BOOTTIME in nanoseconds.
int64_t clinux_boot_nanoseconds(void);

/// CLOCK_REALTIME in milliseconds since the epoch.
int64_t clinux_realtime_milliseconds(void);

/// The processors that this process may run on (sched_getaffinity(2)).
int32_t clinux_affinity_count(void);

/// Physical memory in bytes (sysinfo(2)); 0 when unknown.
uint64_t clinux_memory_bytes(void);

/// CPU time of this process so far in microseconds, and its largest resident set in KiB
/// (getrusage(2)).
void clinux_own_usage(int64_t *user, int64_t *system, int64_t *peak_kibibytes);

/// The type of the file system that a path is on, as statfs(2) tells it; 0 where it does not.
uint32_t clinux_file_system_type(const char *path);

/// gethostname(2), always ended by a zero.
int32_t clinux_host_name(char *buffer, size_t size);

/// Takes out of the environment what was put there for Swift's runtime.
void clinux_forget_runtime_settings(void);

/// Overwrites every variable of that name and takes it out of the environment.
void clinux_wipe_variable(const char *name);

/// The words that this program was started with, its own name first, ended by a null pointer.
char **clinux_arguments(void);

/// The environment of this process (environ(7)).
char **clinux_environment(void);
