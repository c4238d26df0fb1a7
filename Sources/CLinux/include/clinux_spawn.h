#pragma once
#include <stdint.h>

/// What the child was doing when it failed.
enum {
  CLINUX_STEP_CLONE = 0,
  CLINUX_STEP_SESSION = 1,
  CLINUX_STEP_DESCRIPTORS = 2,
  CLINUX_STEP_DIRECTORY = 3,
  CLINUX_STEP_EXECUTE = 4,
};

enum {
  /// setsid(2)
  CLINUX_SPAWN_SESSION = 1,
  /// SIGKILL to the child when the thread that spawned it ends (prctl(2), PR_SET_PDEATHSIG).
  CLINUX_SPAWN_DIES_WITH_PARENT = 2,
  /// The caller has all signals blocked and no signal ignored, so the child only clears its mask.
  CLINUX_SPAWN_SIGNALS_PREPARED = 4,
  /// setpgid(2): a process group of its own, in the caller's session.
  CLINUX_SPAWN_GROUP = 8,
  /// SIGTERM to the child when the thread that spawned it ends (prctl(2), PR_SET_PDEATHSIG).
  CLINUX_SPAWN_ENDS_WITH_PARENT = 16,
  /// SIGCONT to the child when the thread that spawned it ends (prctl(2), PR_SET_PDEATHSIG).
  CLINUX_SPAWN_WAKES_WITH_PARENT = 32,
};

struct clinux_program {
  /// The program. With a `search_path` and no slash in it, a name to look for there.
  const char *file;
  /// NULL, or folders separated by colons (execvp(3)), searched after the change of directory.
  const char *search_path;
  char *const *arguments;
  char *const *environment;
  /// NULL: where the caller is.
  const char *directory;
  int32_t input;
  int32_t output;
  int32_t error;
  /// -1, or the folder of the control group to start in (cgroups(7)); where that cannot be, the
  /// program starts in the caller's.
  int32_t group;
  uint32_t flags;
  /// -1, or one or two more descriptors, which the program finds as 3 and 4.
  int32_t further[2];
};

struct clinux_spawned {
  int32_t pid;
  int32_t pidfd;
  /// Where the child failed, when the call returns -1.
  int32_t step;
};

/// Starts a program with the descriptors given and every other one closed, the signal mask
/// empty and all dispositions default. Returns 0 after the exec, or -1 with errno and the step; the
/// failed child is reaped then.
int32_t clinux_spawn(const struct clinux_program *program, struct clinux_spawned *spawned);

/// Starts a program as nobody's child, in a session of its own: this process sees no SIGCHLD of it, and no wait
/// for any child finds it, unless it is the one that adopts orphans (init, PR_SET_CHILD_SUBREAPER). May be called
/// from any thread. `group` is not regarded. Returns 0 after the exec, or -1 with errno, and where it failed.
int32_t clinux_spawn_detached(const struct clinux_program *program, int32_t *step);
