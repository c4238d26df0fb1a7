internal import OpflowBase

package struct ManifestEntry: Hashable, Sendable, BitwiseCopyable {
  package var name: TextRef
  package var description: TextRef
  package var folder: TextRef
  /// 0 for `auto`.
  package var maxParallel: UInt32
  /// After so many failures, no task starts; 0 for no limit.
  package var maxFailures: UInt32
  /// The plan contains the run's ID, so other runs cannot use it.
  package var usesRunID: UInt32
  /// Only a new compilation can repeat the warnings.
  package var hasWarnings: UInt32 = 0
  /// The builder sets this and the following flags.
  package internal(set) var hasManual: UInt32 = 0
  package internal(set) var hasInteractive: UInt32 = 0
  package internal(set) var hasApprovals: UInt32 = 0
  package internal(set) var hasChecks: UInt32 = 0
  package internal(set) var hasCaches: UInt32 = 0
  package internal(set) var hasServices: UInt32 = 0
  package internal(set) var hasJobservers: UInt32 = 0
  package internal(set) var hasMemoryLimits: UInt32 = 0
  package internal(set) var hasInstanceMakers: UInt32 = 0
  package internal(set) var hasExternalTasks: UInt32 = 0
  package var keepRuns = Self.standardKeepRuns
  /// The concurrency group; empty for none.
  package var group = TextRef.empty
  package private(set) var ifRunning: UInt32 = 0
  package static let standardKeepRuns: UInt32 = 50

  package mutating func set(_ ifRunning: IfRunning) { self.ifRunning = ifRunning.code }

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

  func joined(with segment: ManifestEntry) -> ManifestEntry {
    var joined = self
    joined.usesRunID = max(usesRunID, segment.usesRunID)
    joined.hasManual = max(hasManual, segment.hasManual)
    joined.hasInteractive = max(hasInteractive, segment.hasInteractive)
    joined.hasApprovals = max(hasApprovals, segment.hasApprovals)
    joined.hasChecks = max(hasChecks, segment.hasChecks)
    joined.hasCaches = max(hasCaches, segment.hasCaches)
    joined.hasServices = max(hasServices, segment.hasServices)
    joined.hasJobservers = max(hasJobservers, segment.hasJobservers)
    joined.hasMemoryLimits = max(hasMemoryLimits, segment.hasMemoryLimits)
    joined.hasInstanceMakers = max(hasInstanceMakers, segment.hasInstanceMakers)
    joined.hasExternalTasks = max(hasExternalTasks, segment.hasExternalTasks)
    return joined
  }
}

package struct DemandItem: Hashable, Sendable, BitwiseCopyable {
  package var resource: UInt32
  package var reserved: UInt32 = 0
  package var amount: UInt64
  package init(resource: UInt32, amount: UInt64) {
    self.resource = resource
    self.amount = amount
  }
}

package struct ResourceEntry: Hashable, Sendable, BitwiseCopyable {
  package var name: TextRef
  /// Units for `cpu` and `download`, bytes for `memory`, else thousandths (half a GPU is 500). 0 if
  /// the machine decides.
  package var capacity: UInt64
  package init(name: TextRef, capacity: UInt64) {
    self.name = name
    self.capacity = capacity
  }
  /// Built-in resources come first, in this order.
  package static let cpu: UInt32 = 0
  package static let memory: UInt32 = 1
  package static let download: UInt32 = 2

  /// The GPUs of each node; follows the manifest's resources. Only if a task wants it and the
  /// manifest does not declare it.
  package static let gpuName: StaticString = "gpu"

  /// `gpu` is the index of the nodes' GPUs, or negative.
  @inline(__always)
  package static func isOfMachine(_ resource: Int, gpu: Int) -> Bool {
    resource == Int(cpu) || resource == Int(memory) || resource == gpu
  }

  package static func isCountedInThousandths(_ resource: UInt32) -> Bool { resource > download }

  /// As in a manifest: `2`, `0.5`, bytes for `memory`.
  package static func text(_ amount: UInt64, of resource: UInt32) -> String {
    guard isCountedInThousandths(resource) else { return "\(amount)" }
    let (whole, rest) = amount.quotientAndRemainder(dividingBy: 1000)
    if rest == 0 { return "\(whole)" }
    var digits = String(1000 + rest).dropFirst()
    while digits.last == "0" { digits.removeLast() }
    return "\(whole).\(digits)"
  }
}

package enum AmountText {
  package static func text(_ amount: UInt64, of resource: UInt32) -> String {
    resource == ResourceEntry.memory
      ? SizeText.text(bytes: amount) : ResourceEntry.text(amount, of: resource)
  }
}

/// The action of a run while another run of its group is live.
package enum IfRunning: String, CaseIterable, Sendable {
  case wait, fail, allow

  var code: UInt32 {
    switch self {
    case .allow: 0
    case .wait: 1
    case .fail: 2
    }
  }

  init?(code: UInt32) {
    guard let found = Self.allCases.first(where: { $0.code == code }) else { return nil }
    self = found
  }
}

package struct RunConcurrency: Equatable, Sendable {
  /// If empty, all runs of the manifest are the group.
  package var name: String
  package var ifRunning: IfRunning

  package init(name: String = "", ifRunning: IfRunning = .allow) {
    self.name = name
    self.ifRunning = ifRunning
  }
}

extension Plan {
  package var concurrency: RunConcurrency {
    RunConcurrency(
      name: string(manifest.group), ifRunning: IfRunning(code: manifest.ifRunning) ?? .allow)
  }
}

/// The source of a secret's value, never the value.
package struct SecretEntry: Hashable, Sendable, BitwiseCopyable {
  package enum Source: UInt32, Sendable {
    case environment
    /// Absolute.
    case file
    case command
  }

  package var name: TextRef
  package var source: UInt32
  package var text: TextRef = .empty
  package var words: ListIndex = 0

  package init(name: TextRef, source: Source) {
    self.name = name
    self.source = source.rawValue
  }
}

package enum SecretSource: Equatable, Sendable {
  case environment(String)
  case file(String)
  case command([String])
}

package struct SecretSpec: Equatable, Sendable {
  package let name: String
  package let source: SecretSource
}

extension Plan {
  package var secrets: [SecretSpec] {
    secretEntries.map { entry in
      let source: SecretSource =
        switch SecretEntry.Source(rawValue: entry.source) {
        case .file: .file(string(entry.text))
        case .command: .command(list(entry.words).map { string($0) })
        case .environment, nil: .environment(string(entry.text))
        }
      return SecretSpec(name: string(entry.name), source: source)
    }
  }

  package var secretVariables: [[UInt8]] {
    secretEntries.filter { $0.source == SecretEntry.Source.environment.rawValue }
      .map { Array(text($0.text)) }
  }

  package var hasSecrets: Bool { !secretEntries.isEmpty }

  package func secretNames(_ task: TaskID) -> [String] {
    texts(.secrets, of: task).map { string($0) }
  }
}
