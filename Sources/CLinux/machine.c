#define _GNU_SOURCE
#include "clinux_machine.h"
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

int64_t clinux_monotonic_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t clinux_boot_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t clinux_realtime_milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

uint32_t clinux_file_system_type(const char *path) {
  struct statfs found;
  return statfs(path, &found) == 0 ? (uint32_t)found.f_type : 0;
}

int32_t clinux_affinity_count(void) {
  // The kernel refuses a set smaller than its own, whose size it does not report.
  for (int processors = 1024; processors <= 1 << 20; processors *= 4) {
    cpu_set_t *set = CPU_ALLOC(processors);
    if (set == NULL) return -1;
    size_t size = CPU_ALLOC_SIZE(processors);
    int result = sched_getaffinity(0, size, set);
    int count = result == 0 ? CPU_COUNT_S(size, set) : -1;
    int saved = errno;
    CPU_FREE(set);
    errno = saved;
    if (result == 0) return count;
    if (errno != EINVAL) return -1;
  }
  return -1;
}

uint64_t clinux_memory_bytes(void) {
  struct sysinfo info;
  if (sysinfo(&info) < 0) return 0;
  return (uint64_t)info.totalram * info.mem_unit;
}

void clinux_own_usage(int64_t *user, int64_t *system, int64_t *peak_kibibytes) {
  struct rusage usage = {0};
  getrusage(RUSAGE_SELF, &usage);
  *user = (int64_t)usage.ru_utime.tv_sec * 1000000 + usage.ru_utime.tv_usec;
  *system = (int64_t)usage.ru_stime.tv_sec * 1000000 + usage.ru_stime.tv_usec;
  *peak_kibibytes = usage.ru_maxrss;
}

int32_t clinux_host_name(char *buffer, size_t size) {
  if (gethostname(buffer, size) < 0) return -1;
  buffer[size - 1] = 0;
  return 0;
}

static char *no_arguments[] = {NULL};
static char **arguments = no_arguments;

// The C library passes the arguments to constructors. Swift's CommandLine reads them from /proc,
// which can fail; a worker then would not know that it is one.
__attribute__((constructor)) static void keep_arguments(int count, char **words) {
  if (count > 0) arguments = words;
}

void clinux_wipe_variable(const char *name) {
  size_t length = strlen(name);
  if (length == 0 || environ == NULL) return;
  char **kept = environ;
  for (char **entry = environ; *entry != NULL; entry++) {
    if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') {
      explicit_bzero(*entry, strlen(*entry));
    } else {
      *kept++ = *entry;
    }
  }
  *kept = NULL;
}

char **clinux_arguments(void) { return arguments; }

char **clinux_environment(void) { return environ; }
