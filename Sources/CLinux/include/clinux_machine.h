#pragma once
#include <stddef.h>
#include <stdint.h>

/// CLOCK_MONOTONIC in nanoseconds.
int64_t clinux_monotonic_nanoseconds(void);

/// CLOCK_BOOTTIME in nanoseconds.
int64_t clinux_boot_nanoseconds(void);

/// CLOCK_REALTIME in milliseconds since the epoch.
int64_t clinux_realtime_milliseconds(void);

/// The number of processors that this process may run on (sched_getaffinity(2)).
int32_t clinux_affinity_count(void);

/// Physical memory in bytes (sysinfo(2)); 0 when unknown.
uint64_t clinux_memory_bytes(void);

/// CPU time in microseconds and peak resident set in KiB of this process (getrusage(2)).
void clinux_own_usage(int64_t *user, int64_t *system, int64_t *peak_kibibytes);

/// The file system type of a path (statfs(2)); 0 on failure.
uint32_t clinux_file_system_type(const char *path);

/// gethostname(2), always zero-terminated.
int32_t clinux_host_name(char *buffer, size_t size);

/// Removes the variables that were set for Swift's runtime.
void clinux_forget_runtime_settings(void);

/// Overwrites and removes all variables of that name.
void clinux_wipe_variable(const char *name);

/// The arguments of this program, its name first; null-terminated.
char **clinux_arguments(void);

/// The environment of this process (environ(7)).
char **clinux_environment(void);
