internal import OpflowCore
internal import OpflowSystem
internal import OpflowWorker

/// Starts workers on this machine: this program anew, with a session and two pipes of its own.
struct LocalLauncher: ~Copyable {
  private let folder: RunFolder
  private let runID: String
  /// Asked for when a worker is on its way.
  private lazy var bootID = Machine.bootID
  /// Where workers complain; one file for all of them.
  private let complaints: Descriptor
  /// Where it ended when each worker was started.
  private var complaintStart: [WorkerID: Int64] = [:]
  private let groups: RunGroups

  private static let maxComplaintBytes = 2_000

  init(folder: RunFolder, runID: String) throws(Errno) {
    self.folder = folder
    self.runID = runID
    groups = RunGroups(run: runID)
    complaints = try File.open(
      folder.workerLog, [.readWrite, .create, .append, .noFollow], mode: 0o600)
  }

  /// Why there is no worker, in words for a person.
  struct Failure: Error {
    let what: String
  }

  mutating func launch(_ worker: WorkerID, _ kind: WorkerKind) throws(Failure) -> WorkerLink {
    let orders = try Self.attempt { () throws(Errno) in try Pipe() }
    let reports = try Self.attempt { () throws(Errno) in try Pipe() }
    complaintStart[worker] = try Self.attempt { () throws(Errno) in
      try orders.write.setNonblocking(true)
      try reports.read.setNonblocking(true)
      return try complaints.status().sizeBytes
    }
    let process: SpawnedProcess
    let group = groups.make(worker.rawValue)
    do throws(ProgramError) {
      process = try spawn(
        kind, input: orders.read.rawValue, output: reports.write.rawValue, group: group)
    } catch {
      group?.remove()
      throw failure(error, of: kind)
    }
    return WorkerLink(
      id: worker, kind: kind, process: process, group: group, orders: orders.takeWrite(),
      reports: reports.takeRead())
  }

  private static func attempt<Result: ~Copyable>(
    _ body: () throws(Errno) -> Result
  ) throws(Failure) -> Result {
    do throws(Errno) {
      return try body()
    } catch {
      throw Failure(what: "no worker could be started: \(error)")
    }
  }

  private func failure(_ error: ProgramError, of kind: WorkerKind) -> Failure {
    guard error.step == .execute else {
      return Failure(what: "no worker could be started: \(error.errno)")
    }
    let hint =
      switch kind {
      case .command: ""
      case .download: " (it must lie beside opflow)"
      }
    return Failure(what: "\(program(for: kind)) cannot be executed: \(error.errno)\(hint)")
  }

  private func spawn(
    _ kind: WorkerKind, input: Int32, output: Int32, group: KillGroup?
  ) throws(ProgramError) -> SpawnedProcess {
    let arguments = WorkerProcess.arguments(runFolder: folder.path, run: runID)
    let additions = additions(for: kind)
    if let group, let groupFolder = group.open() {
      return try Program.spawn(
        program(for: kind), arguments: arguments, additions: additions, input: input,
        output: output, error: complaints.rawValue, options: .newSession,
        group: groupFolder.rawValue)
    }
    return try Program.spawn(
      program(for: kind), arguments: arguments, additions: additions, input: input,
      output: output, error: complaints.rawValue, options: .newSession)
  }

  /// What a worker finds in its environment beyond this process's own.
  private func additions(for kind: WorkerKind) -> [String] {
    switch kind {
    case .command: []
    // GnuTLS comes along with libcurl for protocols that no download speaks, and would test itself at
    // each start. A libcurl that does use it starts it.
    case .download: ["GNUTLS_NO_IMPLICIT_INIT=1"]
    }
  }

  private func program(for kind: WorkerKind) -> String {
    switch kind {
    case .command: return "/proc/self/exe"
    // Beside this program, wherever that was put. A path that cannot be read becomes a launch that
    // fails, with the reason.
    case .download:
      let own = (try? Path.real("/proc/self/exe")) ?? "/proc/self/exe"
      return Path.parent(of: own) + "/opflow-download"
    }
  }

  mutating func entry(for pid: Int32) -> WorkerEntry {
    WorkerEntry(
      pid: pid, startTime: ProcessStatus.read(pid)?.startTime ?? 0, bootID: bootID,
      autogroup: ProcessStatus.autogroup(of: pid) ?? 0)
  }

  /// What was written to standard error by workers since that one was started.
  func complaint(since link: WorkerLink) -> String? {
    guard let start = complaintStart[link.id] else { return nil }
    do throws(Errno) {
      var buffer = [UInt8](repeating: 0, count: Self.maxComplaintBytes)
      let count = try buffer.withUnsafeMutableBufferPointer { bytes throws(Errno) in
        try complaints.read(into: UnsafeMutableRawBufferPointer(bytes), at: start)
      }
      return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    } catch {
      return nil
    }
  }

  /// Removes the file of complaints when there was none, and the drive's control group.
  func cleanUp() {
    groups.remove()
    do throws(Errno) {
      if try complaints.status().sizeBytes == 0 { try Path.remove(folder.workerLog) }
    } catch {
      // An empty file that stays does no harm.
    }
  }
}
