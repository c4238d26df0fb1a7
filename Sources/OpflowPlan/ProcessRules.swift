/// A limit or setting of a task's processes.
///
/// To add one: a case here with its value type (`takes`), bits in `ProcessRules`, an entry in
/// `TaskKey.ofProcesses`, and the code that enforces it.
package enum ProcessRule: CaseIterable, Sendable {
  case jobserver
  /// In bytes, for the process tree.
  case memoryLimit
  /// On the coordinator's machine.
  case local
  /// Removes the outputs of earlier attempts before the start.
  case clean

  /// The value's form in the manifest. A plan stores numbers; 0 is the default.
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

  /// Approvals, external tasks and downloads run no programs.
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

  package var isLocal: Bool {
    @inline(__always)
    get { self[.local] != 0 }
    set { self[.local] = newValue ? 1 : 0 }
  }

  /// Ignores `local`.
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
