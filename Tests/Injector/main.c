// Runs a program and makes one system call of it, or of its workers, fail (ptrace(2)).
//
//   Injector count FILE -- PROGRAM ARGUMENT...
//     writes `ROLE CALL COUNT` to FILE for each system call that was made.
//   Injector ROLE CALL ERROR FIRST LAST -- PROGRAM ARGUMENT...
//     makes the calls FIRST to LAST (0: no limit) of that kind fail with errno ERROR without
//     executing them (except close(2)), or kills the caller before the first if ERROR is `KILL`.
//
// ROLE is `coordinator` for the program itself, `worker` or `download` for its workers; a child has
// its parent's role until it executes a program. Calls are counted for all processes of a role
// together. Other programs are detached. Ends like the program.
#define _GNU_SOURCE
#include "calls.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <linux/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum role { COORDINATOR, WORKER, DOWNLOAD, ROLES, NOBODY = ROLES };
static const char *const role_names[] = {"coordinator", "worker", "download"};

enum { MAX_TRACEES = 4096, MAX_CALL = 600, OPTIONS = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK |
       PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC };

struct tracee {
  pid_t pid;
  enum role role;
  int fails;
};

static struct tracee tracees[MAX_TRACEES];
static long counts[ROLES][MAX_CALL];
static enum role target_role = NOBODY;
static long target_call = -1, first, last;
static int target_error, kills;

static void die(const char *what) {
  fprintf(stderr, "Injector: %s: %s\n", what, strerror(errno));
  exit(125);
}

static struct tracee *find(pid_t pid) {
  struct tracee *room = NULL;
  for (int i = 0; i < MAX_TRACEES; i++) {
    if (tracees[i].pid == pid) return &tracees[i];
    if (room == NULL && tracees[i].pid == 0) room = &tracees[i];
  }
  if (room == NULL) die("too many processes");
  // It may stop before its parent reports it.
  *room = (struct tracee){.pid = pid, .role = NOBODY};
  return room;
}

// A tracee may be killed at any moment; wait reports its end.
static long request(long what, pid_t pid, uintptr_t data) {
  return ptrace(what, pid, NULL, (void *)data);
}

static enum role role_after_exec(pid_t pid, enum role before) {
  char path[64], words[4096];
  snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t size = file < 0 ? 0 : read(file, words, sizeof words - 1);
  if (file >= 0) close(file);
  if (size <= 0) return NOBODY;
  words[size] = 0;
  const char *second = words + strlen(words) + 1;
  if (second >= words + size || strcmp(second, "worker") != 0) {
    return before == NOBODY ? COORDINATOR : NOBODY;
  }
  return strstr(words, "opflow-download") != NULL ? DOWNLOAD : WORKER;
}

#if defined(__x86_64__)
static void skip_call(pid_t pid) {
  struct user_regs_struct registers;
  if (ptrace(PTRACE_GETREGS, pid, NULL, &registers) < 0) return;
  registers.orig_rax = (unsigned long long)-1;
  ptrace(PTRACE_SETREGS, pid, NULL, &registers);
}

static void set_result(pid_t pid, int error) {
  struct user_regs_struct registers;
  if (ptrace(PTRACE_GETREGS, pid, NULL, &registers) < 0) return;
  registers.rax = (unsigned long long)-(long long)error;
  ptrace(PTRACE_SETREGS, pid, NULL, &registers);
}
#elif defined(__aarch64__)
enum { SYSTEM_CALL_SET = 0x404, GENERAL_SET = 1 };

static void skip_call(pid_t pid) {
  int number = -1;
  struct iovec block = {&number, sizeof number};
  ptrace(PTRACE_SETREGSET, pid, (void *)SYSTEM_CALL_SET, &block);
}

static void set_result(pid_t pid, int error) {
  struct user_regs_struct registers;
  struct iovec block = {&registers, sizeof registers};
  if (ptrace(PTRACE_GETREGSET, pid, (void *)GENERAL_SET, &block) < 0) return;
  registers.regs[0] = (unsigned long long)-(long long)error;
  ptrace(PTRACE_SETREGSET, pid, (void *)GENERAL_SET, &block);
}
#else
#error "no registers are known for this machine"
#endif

static void at_call(struct tracee *tracee) {
  struct __ptrace_syscall_info info;
  if (ptrace(PTRACE_GET_SYSCALL_INFO, tracee->pid, (void *)sizeof info, &info) < 0) return;
  if (info.op == PTRACE_SYSCALL_INFO_EXIT) {
    if (tracee->fails) set_result(tracee->pid, target_error);
    tracee->fails = 0;
    return;
  }
  if (info.op != PTRACE_SYSCALL_INFO_ENTRY || info.entry.nr >= MAX_CALL) return;
  if (tracee->role == NOBODY) return;
  long number = ++counts[tracee->role][info.entry.nr];
  if (tracee->role != target_role || (long)info.entry.nr != target_call) return;
  if (number < first || (last != 0 && number > last)) return;
  if (kills) {
    kill(tracee->pid, SIGKILL);
    last = first;
    return;
  }
  tracee->fails = 1;
  // Linux closes a descriptor even if close(2) fails.
  if (target_call != SYS_close) skip_call(tracee->pid);
}

static void resume(pid_t pid, int signal) { request(PTRACE_SYSCALL, pid, (uintptr_t)signal); }

static void take(pid_t pid, int status) {
  struct tracee *tracee = find(pid);
  if (WIFEXITED(status) || WIFSIGNALED(status)) {
    tracee->pid = 0;
    return;
  }
  int signal = WSTOPSIG(status), event = status >> 16;
  if (signal == (SIGTRAP | 0x80)) {
    at_call(tracee);
    resume(pid, 0);
  } else if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK ||
             event == PTRACE_EVENT_CLONE) {
    unsigned long child = 0;
    ptrace(PTRACE_GETEVENTMSG, pid, NULL, &child);
    find((pid_t)child)->role = tracee->role;
    resume(pid, 0);
  } else if (event == PTRACE_EVENT_EXEC) {
    tracee->role = role_after_exec(pid, tracee->role);
    if (tracee->role == NOBODY) {
      tracee->pid = 0;
      request(PTRACE_DETACH, pid, 0);
    } else {
      resume(pid, 0);
    }
  } else if (event == PTRACE_EVENT_STOP) {
    int stops = signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
    if (stops) request(PTRACE_LISTEN, pid, 0); else resume(pid, 0);
  } else {
    resume(pid, signal);
  }
}

static void write_counts(const char *path) {
  FILE *file = fopen(path, "we");
  if (file == NULL) die(path);
  for (int role = 0; role < ROLES; role++) {
    for (int call = 0; call < MAX_CALL; call++) {
      if (counts[role][call] == 0) continue;
      fprintf(file, "%s %s %ld\n", role_names[role], call_name(call), counts[role][call]);
    }
  }
  if (fclose(file) != 0) die(path);
}

static pid_t start(char **words) {
  int gate[2];
  if (pipe2(gate, O_CLOEXEC) < 0) die("pipe");
  pid_t pid = fork();
  if (pid < 0) die("fork");
  if (pid == 0) {
    char byte;
    while (read(gate[0], &byte, 1) < 0 && errno == EINTR) continue;
    execv(words[0], words);
    _exit(126);
  }
  if (request(PTRACE_SEIZE, pid, OPTIONS) < 0) die("cannot trace");
  find(pid);
  if (write(gate[1], "", 1) != 1) die("pipe");
  close(gate[0]);
  close(gate[1]);
  return pid;
}

int main(int count, char **words) {
  int counting = count > 4 && strcmp(words[1], "count") == 0;
  int program = counting ? 4 : 7;
  if (count <= program || strcmp(words[program - 1], "--") != 0) {
    fprintf(stderr, "usage: Injector count FILE -- PROGRAM ARGUMENT...\n"
                    "       Injector ROLE CALL ERROR|KILL FIRST LAST -- PROGRAM ARGUMENT...\n");
    return 125;
  }
  if (!counting) {
    for (int role = 0; role < ROLES; role++) {
      if (strcmp(words[1], role_names[role]) == 0) target_role = (enum role)role;
    }
    target_call = call_number(words[2]);
    kills = strcmp(words[3], "KILL") == 0;
    target_error = atoi(words[3]);
    first = atol(words[4]);
    last = atol(words[5]);
    if (target_role == NOBODY || target_call < 0 || (!kills && target_error <= 0) || first <= 0) {
      fprintf(stderr, "Injector: wrong arguments\n");
      return 125;
    }
  }
  pid_t root = start(words + program);
  for (;;) {
    int status;
    pid_t pid = waitpid(-1, &status, __WALL);
    if (pid < 0 && errno == EINTR) continue;
    if (pid < 0) die("wait");
    take(pid, status);
    if (pid != root || !(WIFEXITED(status) || WIFSIGNALED(status))) continue;
    if (counting) write_counts(words[2]);
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
  }
}
