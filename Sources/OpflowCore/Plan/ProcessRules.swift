/// Something that the processes of a task are given, or held to.
///
/// A new one is a case here, with what a task may say of it (`takes`) and where its number stands in a plan
/// (`ProcessRules`); a key of a task that says it (`TaskKey.ofProcesses`); and whoever keeps it. What lies between the
/// two, reading, comparing and carrying, is made of these.
package enum ProcessRule: CaseIterable, Sendable {
  /// `JobserverStyle`.
  case jobserver
  /// What it and all that it starts may use, in bytes.
  case memoryLimit
  /// It is to be on the coordinator's machine, wherever others are.
  case local
  /// What its earlier attempts left is removed before it starts.
  case clean

  /// What a task may say of it. In a plan all of these are numbers, and 0 is what holds where nothing is said.
  package enum Value: Sendable {
    case flag, bytes
    case number(ClosedRange<Int64>)
    /// A `JobserverStyle`, or a yes or no.
    case style
  }

  package var takes: Value {
    switch self {
    case .jobserver: .style
    case .memoryLimit: .bytes
    case .local, .clean: .flag
    }
  }

  /// Whether it is about programs that the task starts, of which questions, blocks and downloads have none.
  package var isOfPrograms: Bool {
    switch self {
    case .jobserver, .memoryLimit, .clean: true
    case .local: false
    }
  }
}

/// What the processes of a task are given, and held to, as a plan has it: a number for each `ProcessRule`.
package struct ProcessRules: Hashable, Sendable, BitwiseCopyable {
  /// The style of a jobserver in the lowest two bits, then whether it is local, whether it cleans, and in the others
  /// the limit of memory in units.
  private var bits: UInt32 = 0

  private static let memoryUnitBytes: UInt64 = 1 << 17

  package init() {}

  /// What holds of one; 0 where nothing was said. A limit of memory is kept rounded up to 128 KiB, and is 32 TiB at most.
  package subscript(rule: ProcessRule) -> UInt64 {
    @inline(__always)
    get {
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

  /// Whether it runs on the coordinator's machine wherever others do.
  package var isLocal: Bool {
    @inline(__always)
    get { self[.local] != 0 }
    set { self[.local] = newValue ? 1 : 0 }
  }

  /// Whether programs of the task are given and held to the same: where they are does not count.
  package func isSameOfPrograms(as other: ProcessRules) -> Bool {
    ProcessRule.allCases.allSatisfy { !$0.isOfPrograms || self[$0] == other[$0] }
  }

  /// Whether nothing was said.
  @inline(__always)
  var isEmpty: Bool { bits == 0 }

  /// Whether each is one that a task of that kind may have.
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
