internal import OpflowSystem

struct WorkerChild: ~Copyable {
  let process: SpawnedProcess
  /// nil once it was closed to tell the worker to end.
  var orders: Descriptor?
  let reports: Descriptor
  /// nil without cgroups.
  let group: KillGroup?
  /// The size of the complaint file when the worker started.
  let complaintStart: Int64
  /// The worker locks its tasks in the records through it; nil without records. Held open until its
  /// processes are gone: no other run may start a task beside them.
  var recordLocks: Descriptor?

  /// With a cgroup, all its processes at once.
  func kill() {
    group?.kill()
    process.kill()
  }

  func endAtOnce() throws(Errno) {
    kill()
    defer { removeGroup() }
    _ = try process.wait()
  }

  /// After it has ended or was given up.
  func endRest() { group?.end() }

  func removeGroup() { group?.remove() }
}
