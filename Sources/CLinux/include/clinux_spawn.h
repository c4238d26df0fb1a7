#pragma once
#include <stdint.h>

/// The step at which the child failed.
enum {
  CLINUX_STEP_CLONE = 0,
  CLINUX_STEP_SESSION = 1,
  CLINUX_STEP_DESCRIPTORS = 2,
  CLINUX_STEP_DIRECTORY = 3,
  CLINUX_STEP_EXECUTE = 4,
};

enum {
  /// setsid(2).
  CLINUX_SPAWN_SESSION = 1,
  /// Send SIGKILL to the child when the spawning thread ends (prctl(2), PR_SET_PDEATHSIG).
  CLINUX_SPAWN_DIES_WITH_PARENT = 2,
  /// The caller has all signals blocked and none ignored, so the child only clears its mask.
  CLINUX_SPAWN_SIGNALS_PREPARED = 4,
  /// setpgid(2): lead a process group in the caller's session.
  CLINUX_SPAWN_GROUP = 8,
  /// The same with SIGTERM.
  CLINUX_SPAWN_ENDS_WITH_PARENT = 16,
  /// The same with SIGCONT.
  CLINUX_SPAWN_WAKES_WITH_PARENT = 32,
};

struct clinux_program {
  /// A path; or, with `search_path` and without a slash, a name to look up there.
  const char *file;
  /// NULL, or folders separated by colons (execvp(3)), searched after the change of directory.
  const char *search_path;
  char *const *arguments;
  char *const *environment;
  /// NULL: the caller's working directory.
  const char *directory;
  int32_t input;
  int32_t output;
  int32_t error;
  /// -1, or the cgroup folder to start in (cgroups(7)); if that fails, the program starts in the
  /// caller's group.
  int32_t group;
  uint32_t flags;
  /// -1, or one or two more descriptors, which become 3 and 4 in the program.
  int32_t further[2];
};

struct clinux_spawned {
  int32_t pid;
  int32_t pidfd;
  /// Set if the call returns -1.
  int32_t step;
};

/// Starts a program with only the given descriptors, an empty signal mask and default actions.
/// Returns 0 after the exec; a failed child is reaped.
int32_t clinux_spawn(const struct clinux_program *program, struct clinux_spawned *spawned);

/// Starts a program in a new session that is not a child of this process: no SIGCHLD arrives, and
/// no wait finds it unless this process adopts orphans (init, PR_SET_CHILD_SUBREAPER). Safe in any
/// thread. Ignores `group`. Returns 0 after the exec.
int32_t clinux_spawn_detached(const struct clinux_program *program, int32_t *step);
