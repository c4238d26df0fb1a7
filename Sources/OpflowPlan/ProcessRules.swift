/// A limit or setting of a task's processes. A new one needs a case here with its value type
/// (`takes`), bits in `ProcessRules`, an entry in `TaskKey.ofProcesses`, and the code that enforces
/// it.
package enum ProcessRule: CaseIterable, Sendable {
  case jobserver
  case memoryLimit
  case local
  case clean

  /// The form in the manifest. A plan stores numbers; 0 is the default.
  package enum Value: Sendable {
    case flag, bytes
    case number(ClosedRange<Int64>)
    /// A `JobserverStyle`, or true or false.
    case style
  }

  package var takes: Value {
    switch self {
    case .jobserver: .style
    case .memoryLimit: .bytes
    case .local, .clean: .flag
    }
  }

  /// Approvals, external tasks and downloads do not run programs.
  package var isOfPrograms: Bool {
    switch self {
    case .jobserver, .memoryLimit, .clean: true
    case .local: false
    }
  }
}

package struct ProcessRules: Hashable, Sendable, BitwiseCopyable {
  /// From the lowest bit: jobserver style (2 bits), local (1), clean (1), memory limit in units
  /// (28).
  private var bits: UInt32 = 0

  private static let memoryUnitBytes: UInt64 = 1 << 17

  package init() {}

  /// 0 if not set. Memory limits are rounded up to 128 KiB and capped at 32 TiB.
  package subscript(rule: ProcessRule) -> UInt64 {
    @inline(__always) get {
      switch rule {
      case .jobserver: UInt64(bits & 3)
      case .local: UInt64(bits >> 2 & 1)
      case .clean: UInt64(bits >> 3 & 1)
      case .memoryLimit: UInt64(bits >> 4) * Self.memoryUnitBytes
      }
    }
    set {
      switch rule {
      case .jobserver: bits = bits & ~3 | UInt32(truncatingIfNeeded: newValue & 3)
      case .local: bits = bits & ~4 | (newValue == 0 ? 0 : 4)
      case .clean: bits = bits & ~8 | (newValue == 0 ? 0 : 8)
      case .memoryLimit:
        let (units, rest) = newValue.quotientAndRemainder(dividingBy: Self.memoryUnitBytes)
        let count = min(units + (rest > 0 ? 1 : 0), UInt64(UInt32.max >> 4))
        bits = bits & 15 | UInt32(count) << 4
      }
    }
  }

  package var isLocal: Bool {
    @inline(__always) get { self[.local] != 0 }
    set { self[.local] = newValue ? 1 : 0 }
  }

  package func isSameOfPrograms(as other: ProcessRules) -> Bool {
    ProcessRule.allCases.allSatisfy { !$0.isOfPrograms || self[$0] == other[$0] }
  }

  @inline(__always)
  var isEmpty: Bool { bits == 0 }

  func isSound(of kind: ActionKind) -> Bool {
    ProcessRule.allCases.allSatisfy { isSound($0, of: kind) }
  }

  private func isSound(_ rule: ProcessRule, of kind: ActionKind) -> Bool {
    let number = self[rule]
    if number == 0 { return true }
    if rule.isOfPrograms, kind != .shell, kind != .command { return false }
    switch rule.takes {
    case .flag: return number == 1
    case .bytes: return true
    case .number(let range): return Int64(exactly: number).map(range.contains) ?? false
    case .style: return JobserverStyle(rawValue: UInt32(clamping: number)) != nil
    }
  }
}

/// Applies if a run cannot enforce `memory_limit`.
package enum MemoryPolicy: String, CaseIterable, Sendable {
  /// Runs the tasks after one warning.
  case warn
  case enforce

  package static let remedy =
    "start opflow with `systemd-run --user --scope -p Delegate=yes opflow run …`"
}

/// How programs get a jobserver (GNU make manual, "Sharing Job Slots with GNU make"). The raw value
/// is stored in plans.
package enum JobserverStyle: UInt32, Sendable {
  /// The best style of the `make` in PATH.
  case ofMake = 1
  /// A named pipe: make 4.4, ninja 1.13 and later.
  case fifo = 2
  /// Two inherited descriptors, for every make.
  case pipe = 3
}

package enum MakeFlags {
  package enum Server: Equatable, Sendable {
    case fifo(path: [UInt8])
    case pipe(read: Int32, write: Int32)
    /// Make did not start this process as a sub-make, so it may not use the jobserver.
    case withheld
  }

  /// The last option wins.
  package static func server(in flags: some Sequence<UInt8>) -> Server? {
    var server: Server?
    for word in words(of: Array(flags)).options {
      for name in names where word.starts(with: name) {
        server = self.server(word.dropFirst(name.count))
      }
    }
    return server
  }

  package static func jobs(in flags: some Sequence<UInt8>) -> Int? {
    words(of: Array(flags)).options.lazy.filter { $0.starts(with: "-j".utf8) }
      .compactMap { Int(String(decoding: $0.dropFirst(2), as: UTF8.self)) }.last { $0 > 0 }
  }

  private static func server(_ value: ArraySlice<UInt8>) -> Server {
    let prefix = Array("fifo:".utf8)
    if value.starts(with: prefix), value.count > prefix.count {
      return .fifo(path: Array(value.dropFirst(prefix.count)))
    }
    let numbers = value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
      .map { Int32(String(decoding: $0, as: UTF8.self)) }
    guard numbers.count == 2, let read = numbers[0], let write = numbers[1], read >= 0, write >= 0
    else { return .withheld }
    return .pipe(read: read, write: write)
  }

  package static func withoutJobs(_ flags: [UInt8]) -> [UInt8] {
    let (options, rest) = words(of: flags)
    let kept = options.filter { !isOfJobs($0) }
    return kept.count == options.count ? flags : joined(kept, rest)
  }

  package static func with(jobs: Int, address: String, in flags: [UInt8]) -> [UInt8] {
    let (options, rest) = words(of: flags)
    var words = options.filter { !isOfJobs($0) }
    // Only the first word may be option letters without a dash.
    if words.first.map({ $0.first == UInt8(ascii: "-") }) ?? true { words.insert([], at: 0) }
    words.insert(contentsOf: [Array("-j\(jobs)".utf8), Array("\(names[0])\(address)".utf8)], at: 1)
    return joined(words, rest)
  }

  private static let names = ["--jobserver-auth=", "--jobserver-fds="].map { $0.utf8 }

  private static func isOfJobs(_ word: [UInt8]) -> Bool {
    word.starts(with: "-j".utf8) || word.starts(with: "--jobs".utf8)
  }

  private static func joined(_ options: [[UInt8]], _ rest: [UInt8]) -> [UInt8] {
    Array(options.joined(separator: [blank])) + (rest.isEmpty ? [] : [blank] + rest)
  }

  private static let blank = UInt8(ascii: " ")

  /// Variable definitions start at `--`. A backslash escapes a space.
  private static func words(of flags: [UInt8]) -> (options: [[UInt8]], rest: [UInt8]) {
    var words: [[UInt8]] = []
    var word: [UInt8] = []
    var isEscaped = false
    for (place, byte) in flags.enumerated() {
      if byte == blank, !isEscaped {
        if word == Array("--".utf8) { return (words, Array(flags[(place - 2)...])) }
        if !word.isEmpty { words.append(word) }
        word = []
      } else {
        word.append(byte)
      }
      isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
    }
    if !word.isEmpty { words.append(word) }
    return (words, [])
  }
}

extension Plan {
  @inline(__always)
  package var hasJobservers: Bool { manifest.hasJobservers == 1 }

  package func jobserver(of task: TaskID) -> JobserverStyle? {
    guard hasJobservers else { return nil }
    return JobserverStyle(rawValue: UInt32(record[task.index].processes[.jobserver]))
  }
}
