internal import OpflowPlan
package import OpflowSystem

/// Runs a command of the manifest and collects its output, bounded in time and memory.
package struct PrintingCommand: ~Copyable {
  private static let mostComplaintBytes = 64 << 10

  /// If no process can be made, retry after pauses that double, for 10 s in all.
  private static let firstPauseNanoseconds: Int64 = 20_000_000
  private static let lastPauseNanoseconds: Int64 = 5_120_000_000

  private let around: CommandAround
  private let process: SpawnedProcess
  private let output: Descriptor
  private let errors: Descriptor
  private var printed: [UInt8] = []
  package private(set) var complaints: [UInt8] = []
  /// Processes that could not be ended, such as another user's.
  private var survivors: [String] = []
  /// Between KILL and giving up.
  private static let killPatienceNanoseconds: Int64 = 500_000_000

  private enum Slot {
    static let process = 0, output = 1, errors = 2
    static let count = 3
  }

  package enum End {
    case exit(Int32)
    case signal(Int32)
    case printedTooMuch, tookTooLong
  }

  /// This process is part of the same command, which would run itself without end.
  package static func isAround(_ words: [String], in folder: String) -> Bool {
    CommandAround(words, in: folder).isNamed(in: Environment.value(TasksAround.variable))
  }

  /// Input is /dev/null. `environment` has entries `NAME=VALUE`.
  package init(
    _ words: [String], in folder: String, environment: [[UInt8]] = Environment.entries()
  ) throws(Errno) {
    let output = try Pipe()
    let errors = try Pipe()
    try output.read.setNonblocking(true)
    try errors.read.setNonblocking(true)
    let around = CommandAround(words, in: folder)
    process = try Self.start(
      words, folder, around.marking(environment), output.write.rawValue, errors.write.rawValue)
    self.output = output.takeRead()
    self.errors = errors.takeRead()
    self.around = around
  }

  private static func start(
    _ words: [String], _ folder: String, _ entries: [[UInt8]], _ output: Int32, _ errors: Int32
  ) throws(Errno) -> SpawnedProcess {
    let null = try File.openNull()
    var pause = Self.firstPauseNanoseconds
    while true {
      do throws(ProgramError) {
        return try Program.spawn(
          searching: words, in: folder, environment: entries, input: null.rawValue,
          output: output, error: errors, options: .diesWithParent)
      } catch {
        // Other processes may exit soon.
        guard error.step == .process, error.errno.isShortage, pause <= Self.lastPauseNanoseconds
        else { throw error.errno }
        try PollSet.pause(nanoseconds: pause)
        pause *= 2
      }
    }
  }

  /// Returns at most `limit` + 1 bytes. Remaining children stay (see `endChildren`).
  package mutating func finish(
    limit: Int, patienceSeconds: Int64
  ) throws(Errno) -> (End, printed: [UInt8]) {
    let deadline = Clock.monotonicNanoseconds + patienceSeconds * 1_000_000_000
    var set = PollSet(slots: Slot.count)
    set.set(Slot.process, process.descriptor.rawValue)
    set.set(Slot.output, output.rawValue)
    set.set(Slot.errors, errors.rawValue)
    while true {
      let left = deadline - Clock.monotonicNanoseconds
      if left <= 0 { return (try end(.tookTooLong), printed) }
      _ = try set.wait(nanoseconds: left)
      // First, so that all output of an ended process is read.
      let hasEnded = set.isReady(Slot.process)
      if try Self.read(output, into: &printed, limit: limit + 1) { set.clear(Slot.output) }
      if try Self.read(errors, into: &complaints, limit: Self.mostComplaintBytes) {
        set.clear(Slot.errors)
      }
      if printed.count > limit { return (try end(.printedTooMuch), printed) }
      guard hasEnded, let ended = try process.reap() else { continue }
      switch ended.status {
      case .exit(let code): return (.exit(code), printed)
      case .signal(let number): return (.signal(number), printed)
      }
    }
  }

  /// Does not wait for unkillable processes.
  private mutating func end(_ end: End) throws(Errno) -> End {
    for pid in ProcessTree.descendants(of: process.pid) {
      // The process is gone.
      guard let descriptor = (try? ProcessTree.open(pid)) ?? nil else { continue }
      do throws(Errno) {
        try ProcessTree.send(.kill, through: descriptor.rawValue)
      } catch {
        noteSurvivor(pid)
      }
    }
    process.kill()
    var gone = PollSet(slots: 1)
    gone.set(0, process.descriptor.rawValue)
    if try gone.wait(nanoseconds: Self.killPatienceNanoseconds) {
      _ = try process.wait()
    } else {
      noteSurvivor(process.pid)
    }
    return end
  }

  /// Kills processes that the ended command left. Requires that this process is a subreaper. Not
  /// for every command: one may leave an agent that holds keys.
  package mutating func endChildren() {
    for pid in ProcessTree.descendants(of: ProcessID.own) {
      guard let environment = ProcessStatus.environment(of: pid),
        around.isNamed(inEnvironment: environment),
        let descriptor = (try? ProcessTree.open(pid)) ?? nil
      else { continue }
      do throws(Errno) {
        try ProcessTree.send(.kill, through: descriptor.rawValue)
      } catch {
        noteSurvivor(pid)
      }
    }
  }

  private mutating func noteSurvivor(_ pid: Int32) {
    if let status = ProcessStatus.read(pid), !status.isZombie { survivors.append(status.title) }
  }

  /// `; opflow could not end process 4711 (sleep, user root)`, or empty.
  package var leftText: String {
    survivors.isEmpty
      ? "" : "; opflow could not end process \(survivors.joined(separator: ", "))"
  }

  /// Drops bytes beyond the limit. Returns true at the end.
  private static func read(
    _ stream: borrowing Descriptor, into bytes: inout [UInt8], limit: Int
  ) throws(Errno) -> Bool {
    var chunk = [UInt8](repeating: 0, count: 16_384)
    // Bounded: the command may write endlessly.
    for _ in 0..<64 {
      do throws(Errno) {
        let count = try chunk.withUnsafeMutableBufferPointer { room throws(Errno) in
          try stream.read(into: UnsafeMutableRawBufferPointer(room))
        }
        if count == 0 { return true }
        bytes += chunk[..<min(count, max(0, limit - bytes.count))]
        if bytes.count == limit { return false }
      } catch .wouldBlock {
        return false
      }
    }
    return false
  }
}
