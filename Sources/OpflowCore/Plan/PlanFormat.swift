// The compiled plan
// =================
//
// A plan is one file: a header, a table of sections, and the sections, each an array of records of
// one fixed size. It holds no pointers, so it is mapped and used in place by the coordinator and by
// every worker. Numbers are little-endian; every section starts at a multiple of eight bytes.
//
//   offset  size
//        0     8  magic "OPFLPLAN"
//        8     4  format version
//       12     4  number of sections
//       16     8  length of the file in bytes
//       24     8  XXH3-64 of everything from byte 64 on
//       32    16  the plan's key (worker-protocol: what a message's plan is known by)
//       48     4  number of tasks
//       52    12  zero
//       64        the section table: kind, record size, offset, record count (4, 4, 8, 8 bytes)
//
// Texts stand once in one arena of bytes and are referred to by offset and length. Lists (words of a
// command, shells, tags, environments, demands) are runs of records, found through a column of
// offsets with one more entry than there are lists. List 0 of each kind is the empty one.
//
// The version is raised by every change of the layout, of the sections or of what a field means. There
// is one reader, for one version: a resume that finds another compiles the manifest anew.
//
//   1    the first
//   2    downloads; what expressions read of the environment
//   3    amounts of the manifest's own resources in thousandths

/// What a section of a plan file holds. The raw value is what stands in the file.
package enum PlanSection: UInt32, CaseIterable, Sendable {
  case arena = 0
  case taskName, taskKind, taskFlags, taskPriority, taskAction, taskShell, taskDirectory
  case taskEnvironment, taskPolicy, taskDemand, taskAllowedCodes, taskDescription, taskTags
  case taskLine, taskFile, taskFingerprint, taskFingerprintParts
  case needOffsets, needTargets, needConditions
  case dependentOffsets, dependentTargets, dependentConditions
  case topologicalOrder
  case nameTable
  case listOffsets, listItems
  case environmentOffsets, environmentItems
  case demandOffsets, demandItems
  case codeOffsets, codeItems
  case policies, resources, files, environmentNames
  case manifest
  case downloads
}

/// A text in the plan's arena.
package struct TextRef: Hashable, Sendable, BitwiseCopyable {
  package var offset: UInt32
  package var length: UInt32
  package init(offset: UInt32, length: UInt32) {
    self.offset = offset
    self.length = length
  }
  package static let empty = TextRef(offset: 0, length: 0)
}

/// The number of a list of texts in the plan; 0 is the empty list.
package typealias ListIndex = UInt32

/// One variable of an environment. The same name occurs once in a list.
package struct EnvironmentItem: Hashable, Sendable, BitwiseCopyable {
  package var name: TextRef
  package var value: TextRef
  package init(name: TextRef, value: TextRef) {
    self.name = name
    self.value = value
  }
}

/// How much of one resource a task holds while it runs.
package struct DemandItem: Hashable, Sendable, BitwiseCopyable {
  /// Index into the plan's resources.
  package var resource: UInt32
  package var reserved: UInt32 = 0
  /// In what the resource is counted in.
  package var amount: UInt64
  package init(resource: UInt32, amount: UInt64) {
    self.resource = resource
    self.amount = amount
  }
}

/// A capacity that tasks share out.
package struct ResourceEntry: Hashable, Sendable, BitwiseCopyable {
  package var name: TextRef
  /// Units for `cpu` and `download`, bytes for `memory`, thousandths for the manifest's own: half a GPU
  /// is 500. 0 for a built-in one whose capacity the machine decides.
  package var capacity: UInt64
  package init(name: TextRef, capacity: UInt64) {
    self.name = name
    self.capacity = capacity
  }
  /// The built-in resources stand first, in this order.
  package static let cpu: UInt32 = 0
  package static let memory: UInt32 = 1
  package static let download: UInt32 = 2

  /// Whether amounts of a resource, by its number, are thousandths.
  package static func isCountedInThousandths(_ resource: UInt32) -> Bool { resource > download }

  /// An amount as a manifest has it: `2`, `0.5`, and bytes for `memory`.
  package static func text(_ amount: UInt64, of resource: UInt32) -> String {
    guard isCountedInThousandths(resource) else { return "\(amount)" }
    let (whole, rest) = amount.quotientAndRemainder(dividingBy: 1000)
    if rest == 0 { return "\(whole)" }
    var digits = String(1000 + rest).dropFirst()
    while digits.last == "0" { digits.removeLast() }
    return "\(whole).\(digits)"
  }
}

/// The rules by which a task's tries are timed, repeated and stopped. Most tasks of a plan share one.
package struct TaskPolicy: Hashable, Sendable, BitwiseCopyable {
  /// For each try, in milliseconds; 0 is none.
  package var timeoutMilliseconds: UInt64
  /// Tries after the first.
  package var retryMax: UInt32
  package var retryDelayMilliseconds: UInt32
  package var retryMaxDelayMilliseconds: UInt32
  /// The delay grows by this factor with each try, in thousandths.
  package var retryBackoffPermille: UInt32
  /// The delay varies by up to this share both ways, in thousandths.
  package var retryJitterPermille: UInt32
  /// Exit codes that are retried (code list); 0 is all failures.
  package var retryCodes: UInt32
  package var stopSignal: UInt32
  package var stopGraceMilliseconds: UInt32

  package init(
    timeoutMilliseconds: UInt64 = 0, retryMax: UInt32 = 0, retryDelayMilliseconds: UInt32 = 1000,
    retryMaxDelayMilliseconds: UInt32 = 60_000, retryBackoffPermille: UInt32 = 2000,
    retryJitterPermille: UInt32 = 200, retryCodes: UInt32 = 0, stopSignal: UInt32 = 15,
    stopGraceMilliseconds: UInt32 = 5000
  ) {
    self.timeoutMilliseconds = timeoutMilliseconds
    self.retryMax = retryMax
    self.retryDelayMilliseconds = retryDelayMilliseconds
    self.retryMaxDelayMilliseconds = retryMaxDelayMilliseconds
    self.retryBackoffPermille = retryBackoffPermille
    self.retryJitterPermille = retryJitterPermille
    self.retryCodes = retryCodes
    self.stopSignal = stopSignal
    self.stopGraceMilliseconds = stopGraceMilliseconds
  }
}

/// What the manifest says about the whole run.
package struct ManifestEntry: Hashable, Sendable, BitwiseCopyable {
  package var name: TextRef
  package var description: TextRef
  /// The folder that relative paths start from.
  package var folder: TextRef
  /// Capacity of `cpu`; 0 is `auto`.
  package var maxParallel: UInt32
  /// Failures after which nothing new starts; 0 is no limit.
  package var maxFailures: UInt32
  /// 1 when the plan holds the run's id and so serves that run only.
  package var usesRunID: UInt32
  /// 1 when there was something to warn of, which only compiling again can tell again.
  package var hasWarnings: UInt32 = 0
  package init(
    name: TextRef, description: TextRef, folder: TextRef, maxParallel: UInt32, maxFailures: UInt32,
    usesRunID: Bool
  ) {
    self.name = name
    self.description = description
    self.folder = folder
    self.maxParallel = maxParallel
    self.maxFailures = maxFailures
    self.usesRunID = usesRunID ? 1 : 0
  }
}

/// What names a plan: 128 bits over all that it was compiled from.
package struct PlanKey: Hashable, Sendable, CustomStringConvertible {
  package var high: UInt64
  package var low: UInt64
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }
  /// 32 hexadecimal digits.
  package var description: String { Hexadecimal.text(high) + Hexadecimal.text(low) }
}

/// Why a file is no plan that this program can use.
package enum PlanError: Error, Equatable, Sendable {
  case tooShort
  case notAPlan
  case version(found: UInt32, expected: UInt32)
  case length(found: UInt64, expected: UInt64)
  case checksum
  /// The section table does not describe the file.
  case section(PlanSection)
  /// What stands there is not sound.
  case reference(PlanSection)

  package var message: String {
    switch self {
    case .tooShort: "it is cut short"
    case .notAPlan: "it is something else"
    case .version(let found, let expected):
      "it has format \(found), this opflow reads \(expected)"
    case .length(let found, let expected): "it has \(found) bytes instead of \(expected)"
    case .checksum: "it is damaged: its checksum does not hold"
    case .section(let section): "its section table is wrong at `\(section)`"
    case .reference(let section): "its section `\(section)` is not sound"
    }
  }
}

package enum PlanFormat {
  package static let magic: [UInt8] = Array("OPFLPLAN".utf8)
  package static let version: UInt32 = 3
  static let headerBytes = 64
  static let sectionEntryBytes = 24
}
