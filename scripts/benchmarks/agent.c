// `agent CORES`: an agent whose workers start no processes. It reports each task as finished as
// soon as it arrives, so a run measures only the coordinator and the stream. It sends no heartbeat
// and exits at the end of the stream.
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char output[1 << 16];
static size_t used;

static void flush(void) {
  size_t sent = 0;
  while (sent < used) {
    ssize_t count = write(1, output + sent, used - sent);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) exit(74);
    sent += (size_t)count;
  }
  used = 0;
}

// The longest line, in both directions.
enum { LONGEST_LINE = 1024 };

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
  if (used + 2 * LONGEST_LINE > sizeof output) flush();
  va_list values;
  va_start(values, format);
  used += (size_t)vsnprintf(output + used, 2 * LONGEST_LINE, format, values);
  va_end(values);
}

static void answer(char *line, const char *cores) {
  static char key[64];
  char *fields[8] = {line};
  int count = 1;
  for (char *tab = strchr(line, '\t'); tab && count < 8; tab = strchr(tab + 1, '\t')) {
    *tab = 0;
    fields[count++] = tab + 1;
  }
  if (strcmp(fields[0], "open") == 0 && count > 3) {
    snprintf(key, sizeof key, "%s", fields[3]);
    say("hello\t1\t%s\t%d\tcores=%s\tmemory=68719476736\thost=m\n", key, getpid(), cores);
  } else if (strcmp(fields[0], "launch") == 0 && count > 1) {
    say("%s\thello\t10\t%s\t1\tcores=%s\tmemory=68719476736\tactions=run\thost=m\n", fields[1],
        key, cores);
  } else if (strcmp(fields[0], "kill") == 0 && count > 1) {
    say("gone\t%s\n", fields[1]);
  } else if (strcmp(fields[0], "bye") == 0) {
    say("bye\n");
    flush();
    exit(0);
  } else if (count > 3 && (strcmp(fields[1], "run") == 0 || strcmp(fields[1], "follow") == 0)) {
    say("%s\tstarted\t%s\t%s\t1\n%s\tended\t%s\t%s\texit=0\twall=1\n", fields[0], fields[2],
        fields[3], fields[0], fields[2], fields[3]);
  } else if (count > 1 && strcmp(fields[1], "bye") == 0) {
    say("gone\t%s\n", fields[0]);
  } else if (count > 2 && strcmp(fields[1], "pulse") == 0) {
    say("%s\tpulse\t%s\n", fields[0], fields[2]);
  }
}

int main(int count, char **words) {
  if (count != 2) return 2;
  static char input[1 << 16];
  size_t held = 0;
  for (;;) {
    ssize_t read_count = read(0, input + held, sizeof input - held);
    if (read_count < 0 && errno == EINTR) continue;
    if (read_count <= 0) return 0;
    held += (size_t)read_count;
    char *line = input;
    for (char *end; (end = memchr(line, '\n', held - (size_t)(line - input))); line = end + 1) {
      *end = 0;
      answer(line, words[1]);
    }
    held -= (size_t)(line - input);
    memmove(input, line, held);
    flush();
  }
}
