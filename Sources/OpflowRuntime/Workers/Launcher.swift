internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

/// Starts, connects and ends the workers of one node. Messages need no call: the coordinator fills
/// `WorkerLink.outbox` and reads `WorkerLink.inbox`.
protocol Launcher: AnyObject {
  /// Does not wait for the worker.
  func launch(_ worker: WorkerID, _ kind: WorkerKind) throws(LaunchFailure) -> WorkerLink

  /// Returns the next event at `place`, which is ready. The caller handles all reports of a link
  /// before the next call.
  func next(at place: UInt32) -> LinkNews?

  /// Sends as much of the outbox as fits. An error makes the link unusable. A reader that is gone
  /// is not an error: `next` reports it.
  func send(to link: WorkerLink) throws(Errno)

  /// Kills a worker and all processes below it; drops unsent messages. Returns when to call
  /// `giveUp` if `next` does not report the end.
  func end(_ link: WorkerLink, at now: Instant) -> Instant

  /// Gives up a worker whose end was not reported in time. Returns warnings.
  func giveUp(_ link: WorkerLink) -> [String]

  /// Leaves the worker to the next session of this process.
  func release(_ link: WorkerLink)

  func regain(_ link: WorkerLink)

  /// Called before any worker has a task.
  func endAll()

  func cleanUp()
}

struct LaunchFailure: Error {
  let detail: String
  /// A launch may be possible in a moment.
  var isShortage = false

  static func naming<Result: ~Copyable>(
    _ detail: String, _ body: @autoclosure () throws(Errno) -> Result
  ) throws(LaunchFailure) -> Result {
    try rethrowing(body()) { LaunchFailure(detail: "\(detail): \($0)", isShortage: $0.isShortage) }
  }
}

enum LinkNews {
  case spoke(WorkerLink)
  /// The channel is lost, but the worker may live. `complaint`: its standard error.
  case silent(WorkerLink, complaint: String?)
  /// The worker and all processes below it, except survivors, are gone. `complaint`: the known
  /// cause.
  case gone(WorkerLink, complaint: String?, warnings: [String], survivors: LeftBehind?)
  case joined(RelayLauncher, AgentHello)
  /// A sign of life without other meaning.
  case heard
  case leaving(RelayLauncher, String)
  /// The stream is lost, and with it the channels of all its workers, which may live.
  case lost(RelayLauncher, String)
}

/// The shared standard error file of started processes. Its size at a process's start marks where
/// the process's complaints may begin.
final class ComplaintFile {
  private let path: String
  private let file: Descriptor

  private static let longestTextBytes = 2_000

  init(_ path: String) throws(Errno) {
    self.path = path
    file = try File.openRegular(path, [.readWrite, .create, .append])
  }

  var rawDescriptor: Int32 { file.rawValue }

  func end() throws(Errno) -> Int64 { try file.status().sizeBytes }

  /// Empty if nothing was written since `start` or the file cannot be read.
  func text(from start: Int64) -> String {
    var buffer = [UInt8](repeating: 0, count: Self.longestTextBytes)
    let count = try? buffer.withUnsafeMutableBytes { bytes throws(Errno) in
      try file.read(into: bytes, at: start)
    }
    return String(decoding: buffer.prefix(count ?? 0), as: UTF8.self)
  }

  func cleanUp() {
    if let size = try? end(), size == 0 { try? Path.remove(path) }
  }
}

/// A child process, awaited along with other events. Any check may reap it; afterwards it gets no
/// signals.
final class StartedProcess {
  private let process: SpawnedProcess
  private(set) var hasEnded = false
  private(set) var status: EndedProcess.Status?

  init(_ process: consuming SpawnedProcess) { self.process = process }

  /// nil once reaped: another process may then have the number.
  var pid: Int32? { hasEnded ? nil : process.pid }

  var rawDescriptor: Int32 { process.descriptor.rawValue }

  func reap() -> Bool {
    if hasEnded { return true }
    do throws(Errno) {
      guard let end = try process.reap() else { return false }
      status = end.status
    } catch {
      // Already reaped elsewhere.
    }
    hasEnded = true
    return true
  }

  /// A negative time means no limit. Returns true if the process has ended.
  func wait(nanoseconds: Int64) -> Bool {
    if hasEnded { return true }
    // After an error, `reap` still finds out.
    _ = try? process.waitForEnd(nanoseconds: nanoseconds)
    return reap()
  }

  /// True if the process has ended. Unlike `reap`, leaves its process group to be killed.
  var isOver: Bool {
    if hasEnded { return true }
    return (try? process.waitForEnd(nanoseconds: 0)) ?? true
  }

  func kill() {
    if !hasEnded { process.kill() }
  }

  /// Kills the group that the process leads, unless it was reaped.
  func killGroup() {
    if !hasEnded { ProcessGroup.killAll(ledBy: process.pid) }
  }

  func terminate() {
    // An error means that the process has ended, which a wait shows.
    if !hasEnded { try? process.signal(.terminate) }
  }
}

extension SpawnedProcess {
  func waitForEnd(nanoseconds: Int64) throws(Errno) -> Bool {
    var end = PollSet(slots: 1)
    end.set(0, descriptor.rawValue)
    return try end.wait(nanoseconds: nanoseconds)
  }
}
