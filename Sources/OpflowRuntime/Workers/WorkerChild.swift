internal import OpflowSystem

struct WorkerChild: ~Copyable {
  let process: SpawnedProcess
  /// nil once it was closed to tell the worker to end.
  var orders: Descriptor?
  let reports: Descriptor
  /// The control group of the worker and its processes; nil without control groups.
  let group: KillGroup?
  /// The size of the complaint file when the worker started.
  let complaintStart: Int64
  /// The open file through which it locks its tasks in the records; nil without records. Held open
  /// until its processes are gone: no other run may start a task beside them.
  var recordLocks: Descriptor?

  /// Kills the worker, and with a control group all its processes at once.
  func kill() {
    group?.kill()
    process.kill()
  }

  func endAtOnce() throws(Errno) {
    kill()
    defer { removeGroup() }
    _ = try process.wait()
  }

  /// Kills the remaining processes in its control group, after it has ended or was given up.
  func endRest() { group?.end() }

  func removeGroup() { group?.remove() }
}
