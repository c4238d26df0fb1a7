#define _GNU_SOURCE
#include "clinux_machine.h"
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

// Each run waits for two starts of opflow: its own and a worker's. Programs that use the library
// are not affected.
extern int opflow_main(int, char **) __attribute__((weak));
extern char __bss_start[] __attribute__((weak));

static const char backtraces[] = "SWIFT_BACKTRACE";
static const char runtime_root[] = "SWIFT_ROOT";
static int has_set_backtraces;
static int has_set_root;

// Before main, Swift's runtime looks for its backtrace helper: in a static program it reads the
// program's path from /proc, aborts if that fails, and searches ten folders. opflow comes without
// the helper, so this setting saves the search. If the user has set SWIFT_BACKTRACE, only the abort
// is prevented.
static void tell_runtime(void) {
  char byte;
  if (opflow_main != NULL && getenv(backtraces) == NULL) {
    has_set_backtraces = setenv(backtraces, "enable=no,swift-backtrace=/", 0) == 0;
  } else if (readlink("/proc/self/exe", &byte, 1) < 0 && getenv(runtime_root) == NULL) {
    has_set_root = setenv(runtime_root, "/", 0) == 0;
  }
}

// The runtime's type metadata is in the first pages of .bss, and even a short run uses nearly all
// of them. This saves two page faults for each: at the first read and at the first write. Older
// kernels refuse the call.
static void take_pages_of_types(void) {
  const uintptr_t page = (uintptr_t)getpagesize(), length = 128 << 10;
  if (__bss_start == NULL) return;
  uintptr_t start = (uintptr_t)__bss_start & ~(page - 1);
  madvise((void *)start, length, MADV_POPULATE_WRITE);
}

__attribute__((constructor(101))) static void start(void) {
  tell_runtime();
  if (opflow_main != NULL) take_pages_of_types();
}

void clinux_forget_runtime_settings(void) {
  if (has_set_backtraces) unsetenv(backtraces);
  if (has_set_root) unsetenv(runtime_root);
}
