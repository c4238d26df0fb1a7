// A launcher, installed as opflow-download by the tarball and the wheel. It executes
// lib/opflow-download with the dynamic loader and the libraries in `lib`, so that the program runs
// on every distribution. The launcher is linked statically.
//
// The loader is named opflow-download.so: the kernel names a process by the first 15 characters of
// the file that it executes, so ps and top show opflow-download.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

// These variables name libraries of the system, which require the system's libc.
static int is_for_another_loader(const char *variable) {
  return strncmp(variable, "LD_", 3) == 0 || strncmp(variable, "GCONV_PATH=", 11) == 0;
}

int main(int argc, char **argv) {
  char lib[4096];
  ssize_t length = readlink("/proc/self/exe", lib, sizeof lib - 64);
  if (length < 0) {
    fprintf(stderr, "opflow-download: cannot read /proc/self/exe: %s\n", strerror(errno));
    return 127;
  }
  lib[length] = 0;
  strcpy(strrchr(lib, '/'), "/lib");

  // No other program needs the variables: opflow-download starts none.
  char **kept = environ;
  for (char **variable = environ; *variable != NULL; variable++) {
    if (!is_for_another_loader(*variable)) *kept++ = *variable;
  }
  *kept = NULL;

  char loader[4096], program[4096], locale[4096];
  snprintf(loader, sizeof loader, "%s/opflow-download.so", lib);
  snprintf(program, sizeof program, "%s/opflow-download", lib);
  snprintf(locale, sizeof locale, "%s/locale", lib);
  char **words = calloc((size_t)argc + 5, sizeof *words);
  if (words == NULL || setenv("LOCPATH", locale, 1) != 0) {
    fprintf(stderr, "opflow-download: out of memory\n");
    return 127;
  }
  // $ORIGIN is the folder of the program. Its path could contain a colon, which divides the list.
  char *options[] = {loader, "--inhibit-cache", "--library-path", "$ORIGIN", program};
  memcpy(words, options, sizeof options);
  for (int index = 1; index < argc; index++) words[index + 4] = argv[index];
  execv(loader, words);
  fprintf(stderr, "opflow-download: cannot execute %s: %s\n", loader, strerror(errno));
  return 127;
}
