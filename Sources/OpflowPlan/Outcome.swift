package import OpflowBase

package struct Usage: Hashable, Sendable {
  package var wallMicroseconds: Int64 = 0
  package var userMicroseconds: Int64 = 0
  package var systemMicroseconds: Int64 = 0
  /// The largest resident set of one process (getrusage(2), ru_maxrss).
  package var peakKibibytes: Int64 = 0
  package var outputBytes: Int64 = 0
  package init() {}
}

package enum ExitStatus: Hashable, Sendable {
  /// The attempt never ran, or the status was lost.
  case unknown
  case exit(Int32)
  case signal(Int32)

  package static var success: ExitStatus { .exit(0) }
}

package struct Outcome: Hashable, Sendable {
  package var status: ExitStatus
  /// nil if the status is sufficient.
  package var reason: EndReason?
  /// For a failed start or output; else 0.
  package var errorNumber: Int32
  package var usage: Usage

  package init(
    status: ExitStatus, reason: EndReason? = nil, errorNumber: Int32 = 0, usage: Usage = Usage()
  ) {
    self.status = status
    self.reason = reason
    self.errorNumber = errorNumber
    self.usage = usage
  }

  package var isSuccess: Bool {
    if case .exit(0) = status { reason == nil } else { false }
  }
}

/// The reason for an attempt's end, if not the exit status. `refused`, `output`, `value`, `input`,
/// `noOutput`, `memory`, `rejected` and `unready` have a `detail`.
package enum EndReason: Hashable, CaseIterable, Sendable {
  case timeout
  /// The attempt could not start; see also errno.
  case refused
  /// A log or another record could not be written.
  case output
  /// A retry may help.
  case fetch
  case fetchFinal
  case workerLost
  /// The run crashed or was stopped.
  case interrupted
  /// A prefetched task returned to the queue.
  case revoked
  /// An invalid value, or a missing value of a dependency.
  case value
  /// A missing input.
  case input
  /// The command succeeded, but an output is missing.
  case noOutput
  case memory
  case rejected
  /// The service will not become ready.
  case unready
  /// The service exited after it was ready.
  case ended
  case stopped(StopReason)

  package static let allCases: [EndReason] =
    [
      .timeout, .refused, .output, .fetch, .fetchFinal, .workerLost, .interrupted, .revoked, .value,
      .input, .noOutput, .memory, .rejected, .unready, .ended,
    ]
    + StopReason.allCases.map { .stopped($0) }

  package var word: StaticString {
    switch self {
    case .timeout: "timeout"
    case .refused: "refused"
    case .output: "output"
    case .fetch: "fetch"
    case .fetchFinal: "fetch-final"
    case .workerLost: "worker-lost"
    case .interrupted: "interrupted"
    case .revoked: "revoked"
    case .value: "value"
    case .input: "input"
    case .noOutput: "no-output"
    case .memory: "memory"
    case .rejected: "rejected"
    case .unready: "unready"
    case .ended: "ended"
    case .stopped(let reason): reason.word
    }
  }

  package init?(word: UnsafeRawBufferPointer) {
    guard let reason = Self.allCases.first(where: { word.equals($0.word) }) else { return nil }
    self = reason
  }
}

package enum StopReason: UInt8, CaseIterable, Sendable {
  case cancel
  case signal
  /// Without a grace period.
  case kill
  /// A file of the run cannot be written.
  case ioError
  /// A service without running dependents; not a failure.
  case unneeded
  /// A service that the task uses was lost.
  case serviceLost
  /// The time limit of its node is almost reached.
  case timeOver

  package var word: StaticString {
    switch self {
    case .cancel: "cancel"
    case .signal: "signal"
    case .kill: "kill"
    case .ioError: "io-error"
    case .unneeded: "unneeded"
    case .serviceLost: "service-lost"
    case .timeOver: "time-over"
    }
  }

  package init?(word: UnsafeRawBufferPointer) {
    guard let reason = Self.allCases.first(where: { word.equals($0.word) }) else { return nil }
    self = reason
  }
}

extension ExitStatus {
  /// `exit 2`, `signal 9 (KILL)`.
  package var text: String {
    switch self {
    case .unknown: "unknown exit status"
    case .exit(let code): "exit \(code)"
    case .signal(let number):
      SignalName.text(number).map { "signal \(number) (\($0))" } ?? "signal \(number)"
    }
  }
}

/// Names of signals that end processes (signal(7), Linux on x86 and Arm).
package enum SignalName {
  /// Empty for signals that do not end processes.
  private static let names = [
    "", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
    "PIPE", "ALRM", "TERM", "STKFLT", "", "", "", "", "", "", "", "XCPU", "XFSZ", "VTALRM", "PROF",
    "", "IO", "PWR", "SYS",
  ]

  package static func text(_ number: Int32) -> String? {
    guard names.indices.contains(Int(number)), !names[Int(number)].isEmpty else { return nil }
    return names[Int(number)]
  }

  /// `SIGTERM`, or `signal 40`.
  package static func spelled(_ number: Int32) -> String {
    text(number).map { "SIG\($0)" } ?? "signal \(number)"
  }
}

/// Errors at the start of a task (errno(3), Linux).
package enum ErrorName {
  private static let texts: [Int32: String] = [
    1: "operation not permitted", 2: "no such file or directory", 5: "input/output error",
    7: "argument list too long", 8: "not an executable format", 11: "too many processes",
    12: "out of memory", 13: "permission denied", 20: "not a directory", 21: "is a directory",
    23: "too many open files", 24: "too many open files", 26: "the program is open for writing",
    27: "file too large", 28: "no space left on the device", 30: "read-only file system",
    36: "file name too long", 40: "too many symbolic links", 77: "not a regular file",
    107: "transport endpoint is not connected", 110: "connection timed out", 112: "host is down",
    116: "stale file handle", 121: "remote I/O error", 122: "disk quota exceeded",
  ]

  package static func text(_ number: Int32) -> String { texts[number] ?? "errno \(number)" }
}

/// Omits fields that are 0 or unknown.
package struct OutcomeFields {
  package var status = ExitStatus.unknown
  /// An `EndReason` in ends; other journal events use the key for other reasons.
  package var reason = UnsafeRawBufferPointer(start: nil, count: 0)
  package var errorNumber: Int32 = 0
  package var usage = Usage()

  @inline(__always)
  package init() {}

  /// Reads up to a field that is out of order; call it again for that field.
  @inline(__always)
  package mutating func read(_ cursor: inout FieldCursor) {
    if cursor.stands(at: .exit) {
      if let code = cursor.digit(.exit) {
        status = .exit(Int32(truncatingIfNeeded: code))
      } else if let code = cursor.small(.exit) {
        status = .exit(code)
      }
    } else if cursor.stands(at: .signal), let signal = cursor.small(.signal) {
      status = .signal(signal)
    }
    if !cursor.stands(at: .wall) { readRare(&cursor) }
    if cursor.stands(at: .wall) { usage.wallMicroseconds = cursor.natural(.wall) }
    if cursor.stands(at: .user) { usage.userMicroseconds = cursor.natural(.user) }
    if cursor.stands(at: .sys) { usage.systemMicroseconds = cursor.natural(.sys) }
    if cursor.stands(at: .rss) { usage.peakKibibytes = cursor.natural(.rss) }
    if cursor.stands(at: .out) { usage.outputBytes = cursor.natural(.out) }
  }

  @inline(never)
  private mutating func readRare(_ cursor: inout FieldCursor) {
    if cursor.stands(at: .reason) { reason = cursor.text(.reason) }
    if cursor.stands(at: .errno), let number = cursor.small(.errno) { errorNumber = number }
  }

  /// nil if unknown to this version.
  @inline(__always)
  package var endReason: EndReason? { reason.isEmpty ? nil : EndReason(word: reason) }

  package var outcome: Outcome {
    Outcome(status: status, reason: endReason, errorNumber: errorNumber, usage: usage)
  }
}

extension OutputSpan<UInt8> {
  /// At most 200 bytes.
  @inline(__always)
  package mutating func append(_ outcome: Outcome) {
    switch outcome.status {
    case .unknown: break
    case .exit(let code): append(.exit, code)
    case .signal(let signal): append(.signal, signal)
    }
    if let reason = outcome.reason {
      begin(.reason)
      appendText(reason.word)
    }
    appendUnlessZero(.errno, outcome.errorNumber)
    appendUnlessZero(.wall, outcome.usage.wallMicroseconds)
    appendUnlessZero(.user, outcome.usage.userMicroseconds)
    appendUnlessZero(.sys, outcome.usage.systemMicroseconds)
    appendUnlessZero(.rss, outcome.usage.peakKibibytes)
    appendUnlessZero(.out, outcome.usage.outputBytes)
  }
}

/// Processes of a task that outlived its main process: opflow killed them, or could not kill them.
package struct LeftBehind: Sendable, Equatable {
  package var count: Int
  /// `sleep, python3 (2)`; for living processes `4711 (sleep, user root)`.
  package var names: String
  /// Without a request, the task does not start next to living processes.
  package var areAlive = false
  /// The first living processes, for a later session.
  package var processes: [ProcessMark] = []

  private static let maxNames = 5
  /// With the names, a message has at most 1,000 bytes.
  private static let mostProcesses = 32

  package init(count: Int, names: String, areAlive: Bool = false) {
    self.count = count
    self.names = names
    self.areAlive = areAlive
  }

  package init?(_ all: [String], areAlive: Bool = false) {
    if all.isEmpty { return nil }
    self.areAlive = areAlive
    var names: [String] = []
    var counts: [String: Int] = [:]
    for name in all {
      if counts[name] == nil { names.append(name) }
      counts[name, default: 0] += 1
    }
    let shown = names.prefix(Self.maxNames).map { name in
      counts[name] == 1 ? name : "\(name) (\(counts[name] ?? 0))"
    }
    count = all.count
    self.names = shown.joined(separator: ", ") + (names.count > Self.maxNames ? " and others" : "")
  }

  package init?(alive all: [(title: String, mark: ProcessMark)]) {
    self.init(all.map(\.title), areAlive: true)
    processes = all.prefix(Self.mostProcesses).map(\.mark)
  }

  package init?(text: String, processes: String = "") {
    let areAlive = text.hasPrefix(Self.alive)
    let parts = text.dropFirst(areAlive ? Self.alive.count : 0).split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let count = Int(parts[0]), count > 0 else { return nil }
    self.init(count: count, names: String(parts[1]), areAlive: areAlive)
    if areAlive { self.processes = Self.processes(processes) }
  }

  private static let alive = "alive "

  /// `2 sleep, nc` or `alive 1 4711 (sleep, user root)`.
  package var text: String { "\(areAlive ? Self.alive : "")\(count) \(names)" }

  /// `4711:88123,4712:88130`.
  package var processesText: String {
    processes.map { "\($0.pid):\($0.startTime)" }.joined(separator: ",")
  }

  package static func processes(_ text: String) -> [ProcessMark] {
    text.split(separator: ",").compactMap { part in
      let numbers = part.split(separator: ":")
      guard numbers.count == 2, let pid = Int32(numbers[0]), pid > 0,
        let startTime = UInt64(numbers[1])
      else { return nil }
      return ProcessMark(pid: pid, startTime: startTime)
    }
  }
}

/// Identifies a process until its machine reboots.
package struct ProcessMark: Hashable, Sendable {
  package var pid: Int32
  /// In clock ticks since boot.
  package var startTime: UInt64

  package init(pid: Int32, startTime: UInt64) {
    self.pid = pid
    self.startTime = startTime
  }
}
