#pragma once
#include <stddef.h>
#include <stdint.h>

int64_t clinux_monotonic_nanoseconds(void);

int64_t clinux_boot_nanoseconds(void);

int64_t clinux_realtime_milliseconds(void);

/// sched_getaffinity(2).
int32_t clinux_affinity_count(void);

/// Physical memory (sysinfo(2)); 0 if unknown.
uint64_t clinux_memory_bytes(void);

/// CPU time in microseconds and peak resident set of this process (getrusage(2)).
void clinux_own_usage(int64_t *user, int64_t *system, int64_t *peak_kibibytes);

/// statfs(2); 0 on failure.
uint32_t clinux_file_system_type(const char *path);

/// gethostname(2), always zero-terminated.
int32_t clinux_host_name(char *buffer, size_t size);

void clinux_forget_runtime_settings(void);

/// Overwrites and removes all variables of that name.
void clinux_wipe_variable(const char *name);

/// The arguments, the program's name first; null-terminated.
char **clinux_arguments(void);

/// environ(7).
char **clinux_environment(void);
