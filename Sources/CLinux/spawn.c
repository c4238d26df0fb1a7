#define _GNU_SOURCE
#include "clinux_spawn.h"
#include "clinux_descriptors.h"
#include "clinux_processes.h"
#include "clinux_signals.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// The child shares our memory until its exec (CLONE_VM), and this thread is suspended until then
// (CLONE_VFORK). So the cost does not depend on our size, and the child reports errors in a
// variable. In return it may only use its own stack and async-signal-safe calls, and all signals
// stay blocked until the handlers, which would run in our memory, are reset.

enum { CHILD_STACK_BYTES = 32 * 1024 };

struct child {
  const struct clinux_program *program;
  pid_t parent;
  volatile int error;
  volatile int step;
};

static int move(int from, int to) {
  if (from == to) return fcntl(to, F_SETFD, 0);
  return dup2(from, to);
}

static int place_descriptors(const struct clinux_program *program) {
  int from[5] = {
      program->input, program->output, program->error, program->further[0], program->further[1]};
  int count = program->further[0] < 0 ? 3 : program->further[1] < 0 ? 4 : 5;
  // First move descriptors away from numbers that are destinations of others.
  for (int i = 0; i < count; i++) {
    if (from[i] >= count || from[i] == i) continue;
    from[i] = fcntl(from[i], F_DUPFD, count);
    if (from[i] < 0) return -1;
  }
  for (int i = 0; i < count; i++) {
    if (move(from[i], i) < 0) return -1;
  }
  return clinux_close_from((uint32_t)count);
}

// True if a folder lacks the program, so that the next folder is tried.
static int is_absent(int error) {
  return error == ENOENT || error == ENOTDIR || error == ELOOP || error == ENAMETOOLONG;
}

// execvp(3) with the child's path and environment, without its fallback to a shell.
//
// A failed exec costs several times an access check, and many folders may come first. So each
// folder is checked before the exec, every time, since the program may have been added to an
// earlier folder. The folder of the last program is tried without a check, as most programs are in
// the same one.
static int execute(const struct clinux_program *program) {
  // Written by children, in our memory. Any value gives the same result.
  static _Atomic int found = -1;
  if (program->search_path == NULL || strchr(program->file, '/') != NULL) {
    execve(program->file, program->arguments, program->environment);
    return errno;
  }
  if (*program->file == 0) return ENOENT;
  char path[PATH_MAX];
  size_t length = strlen(program->file);
  int result = ENOENT;
  const char *folder = program->search_path;
  for (int place = 0;; place++) {
    const char *end = strchrnul(folder, ':');
    size_t prefix = (size_t)(end - folder);
    if (prefix + length + 2 <= sizeof path) {
      memcpy(path, folder, prefix);
      if (prefix > 0) path[prefix++] = '/';
      memcpy(path + prefix, program->file, length + 1);
      if (place == found || access(path, F_OK) == 0 || !is_absent(errno)) {
        found = place;
        execve(path, program->arguments, program->environment);
        if (errno == EACCES) {
          result = EACCES;
        } else if (!is_absent(errno)) {
          return errno;
        }
      }
    }
    if (*end == 0) return result;
    folder = end + 1;
  }
}

static int run_child(void *argument) {
  struct child *child = argument;
  const struct clinux_program *program = child->program;

  child->step = CLINUX_STEP_SESSION;
  if (program->flags & CLINUX_SPAWN_SESSION && setsid() < 0) goto failed;
  if (program->flags & CLINUX_SPAWN_GROUP && setpgid(0, 0) < 0) goto failed;
  int signal = program->flags & CLINUX_SPAWN_DIES_WITH_PARENT    ? SIGKILL
               : program->flags & CLINUX_SPAWN_ENDS_WITH_PARENT  ? SIGTERM
               : program->flags & CLINUX_SPAWN_WAKES_WITH_PARENT ? SIGCONT
                                                                 : 0;
  if (signal != 0) {
    if (prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0) < 0) goto failed;
    // The parent may have died before the prctl.
    if (getppid() != child->parent) _exit(127);
  }

  child->step = CLINUX_STEP_DESCRIPTORS;
  if (place_descriptors(program) < 0) goto failed;

  child->step = CLINUX_STEP_DIRECTORY;
  if (program->directory != NULL && chdir(program->directory) < 0) goto failed;

  child->step = CLINUX_STEP_EXECUTE;
  sigset_t none;
  sigemptyset(&none);
  if (!(program->flags & CLINUX_SPAWN_SIGNALS_PREPARED)) clinux_reset_dispositions();
  sigprocmask(SIG_SETMASK, &none, NULL);
  errno = execute(program);

failed:
  child->error = errno;
  _exit(127);
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define COPIES_MEMORY
#endif
#endif

// The thread sanitizer does not support two tasks in one address space.
#ifdef COPIES_MEMORY
enum { SHARED_MEMORY = 0 };
#else
enum { SHARED_MEMORY = CLONE_VM };
#endif

// Data that both processes share, even if they do not share all memory.
struct detached {
  struct child child;
  // The stack of the program's process.
  char *stack;
};

// Runs the intermediate process: starts a session and the program and exits, so that init adopts
// the program.
static int run_between(void *argument) {
  struct detached *detached = argument;
  if (setsid() < 0) {
    detached->child.error = errno;
    _exit(127);
  }
  detached->child.parent = getpid();
  pid_t pid = clone(
      run_child, detached->stack, SHARED_MEMORY | CLONE_VFORK | SIGCHLD, &detached->child);
  if (pid < 0) {
    detached->child.step = CLINUX_STEP_CLONE;
    detached->child.error = errno;
  }
  _exit(0);
}

int32_t clinux_spawn_detached(const struct clinux_program *program, int32_t *step) {
  struct detached *detached = mmap(
      NULL, sizeof *detached, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  *step = CLINUX_STEP_CLONE;
  if (detached == MAP_FAILED) return -1;
  _Alignas(16) char outer[CHILD_STACK_BYTES], inner[CHILD_STACK_BYTES];
  detached->child = (struct child){.program = program, .step = CLINUX_STEP_SESSION};
  detached->stack = inner + sizeof inner;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  // Without an exit signal, only a wait with __WCLONE sees the process.
  pid_t pid = clone(
      run_between, outer + sizeof outer, SHARED_MEMORY | CLONE_VFORK, detached);
  int error = pid < 0 ? errno : 0;
  // A wait of another thread may have reaped it first.
  while (pid >= 0 && waitpid(pid, NULL, __WCLONE) < 0 && errno == EINTR) continue;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error == 0) {
    error = detached->child.error;
    *step = detached->child.step;
  }
  munmap(detached, sizeof *detached);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

// glibc's clone(2) cannot set the cgroup, and its clone3(2) wrapper is not public.
static pid_t clone_into_group(
    struct child *child, char *stack, size_t stack_size, int *pidfd) {
  struct clone_args arguments = {
      .flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD | CLONE_INTO_CGROUP,
      .pidfd = (uintptr_t)pidfd,
      .exit_signal = SIGCHLD,
      .stack = (uintptr_t)stack,
      .stack_size = stack_size,
      .cgroup = (uint64_t)child->program->group,
  };
  // The child returns from the call on its own empty stack and continues in `run_child`.
#if defined(__x86_64__)
  long result = SYS_clone3;
  register void *argument __asm__("r12") = child;
  register int (*body)(void *) __asm__("r13") = run_child;
  __asm__ volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xor %%ebp, %%ebp\n\t"
      "mov %%r12, %%rdi\n\t"
      "call *%%r13\n\t"
      "ud2\n"
      "1:"
      : "+a"(result)
      : "D"(&arguments), "S"(sizeof arguments), "r"(argument), "r"(body)
      : "rcx", "r11", "cc", "memory");
#elif defined(__aarch64__)
  register long result __asm__("x0") = (long)&arguments;
  register long size __asm__("x1") = sizeof arguments;
  register long number __asm__("x8") = SYS_clone3;
  register void *argument __asm__("x20") = child;
  register int (*body)(void *) __asm__("x21") = run_child;
  __asm__ volatile(
      "svc #0\n\t"
      "cbnz x0, 1f\n\t"
      "mov x29, xzr\n\t"
      "mov x0, x20\n\t"
      "blr x21\n\t"
      "brk #1\n"
      "1:"
      : "+r"(result)
      : "r"(size), "r"(number), "r"(argument), "r"(body)
      : "cc", "memory");
#else
  (void)arguments;
  long result = -ENOSYS;
#endif
  return result < 0 ? -1 : (pid_t)result;
}

int32_t clinux_spawn(const struct clinux_program *program, struct clinux_spawned *spawned) {
  struct child child = {.program = program, .parent = getpid(), .step = CLINUX_STEP_CLONE};
  int prepared = program->flags & CLINUX_SPAWN_SIGNALS_PREPARED;
  sigset_t all, before;
  if (!prepared) {
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
  }

  _Alignas(16) char stack[CHILD_STACK_BYTES];
  int pidfd = -1;
  pid_t pid = -1;
  if (program->group >= 0) pid = clone_into_group(&child, stack, sizeof stack, &pidfd);
  // The group is optional: start outside of it.
  if (pid < 0) {
    pid = clone(
        run_child, stack + sizeof stack, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &child,
        &pidfd);
  }
  int error = pid < 0 ? errno : child.error;

  if (!prepared) pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error == 0) {
    spawned->pid = pid;
    spawned->pidfd = pidfd;
    return 0;
  }
  if (pid >= 0) {
    struct clinux_ended ended;
    while (clinux_reap(CLINUX_WAIT_PIDFD, pidfd, 1, &ended) < 0 && errno == EINTR) continue;
    close(pidfd);
  }
  spawned->step = child.step;
  errno = error;
  return -1;
}
