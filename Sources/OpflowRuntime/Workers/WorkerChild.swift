internal import OpflowSystem

/// The process of a worker on this machine, with two pipes.
struct WorkerChild: ~Copyable {
  let process: SpawnedProcess
  /// Nil once it was to see that no more orders come.
  var orders: Descriptor?
  let reports: Descriptor
  /// That it and all below it are in, where there are such.
  let group: KillGroup?
  /// Where the file of complaints ended when it was started.
  let complaintStart: Int64

  /// Kills it, and all below it where the kernel does that in one stroke.
  func kill() {
    group?.kill()
    process.kill()
  }

  /// Kills one that was given nothing to do yet, and waits for its end.
  func endAtOnce() throws(Errno) {
    kill()
    defer { removeGroup() }
    _ = try process.wait()
  }

  /// It has ended, or is given up: kills what is left below it, where the kernel does that in one stroke.
  func endRest() { group?.end() }

  /// It and all that was below it are gone.
  func removeGroup() { group?.remove() }
}
