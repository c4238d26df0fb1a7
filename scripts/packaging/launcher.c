// Installed as opflow-download: executes the real one, in `lib` beside it, with the dynamic loader
// and the libraries there, so that it runs on every distribution. Linked statically.
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

// These variables name libraries of the system, which need its own libc.
static int is_for_another_loader(const char *variable) {
  return strncmp(variable, "LD_", 3) == 0 || strncmp(variable, "GCONV_PATH=", 11) == 0;
}

int main(int argc, char **argv) {
  char lib[4096];
  ssize_t length = readlink("/proc/self/exe", lib, sizeof lib - 64);
  if (length < 0) {
    fprintf(stderr, "opflow-download: /proc/self/exe cannot be read: %s\n", strerror(errno));
    return 127;
  }
  lib[length] = 0;
  strcpy(strrchr(lib, '/'), "/lib");

  // opflow-download starts no programs, so its environment reaches no other.
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
  // $ORIGIN is the program's folder. Its path would not do: colons in it divide the list.
  char *options[] = {loader, "--inhibit-cache", "--library-path", "$ORIGIN", program};
  memcpy(words, options, sizeof options);
  for (int index = 1; index < argc; index++) words[index + 4] = argv[index];
  execv(loader, words);
  fprintf(stderr, "opflow-download: %s cannot be executed: %s\n", loader, strerror(errno));
  return 127;
}
