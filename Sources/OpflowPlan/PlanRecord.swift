/// The properties of a task that the scheduler does not read.
///
/// A new key is a field here, with a check in `Plan.isSound` if it is a reference. Numbers, sizes
/// and flags for the worker are `ProcessRule`s, strings are `TaskText`s.
package struct PlanRecord: Hashable, Sendable, BitwiseCopyable {
  /// The script of a `shell` action, or the question of an approval.
  package var script = TextRef.empty
  /// Absolute.
  package var directory = TextRef.empty
  package var words: ListIndex = 0
  package var download: UInt32 = 0
  /// The words before the script.
  package var shell: ListIndex = 0
  package var environment: UInt32 = 0
  package var allowedCodes: UInt32 = 0
  package var late: UInt32 = 0
  /// The line in `file`, from 1; 0 if unknown.
  package var line: UInt32 = 0
  /// Empty for the manifest itself.
  package var file: ListIndex = 0

  /// Texts do not change what the task does.
  package var texts = TaskTexts()
  package var processes = ProcessRules()

  package init() {}

  /// Shares the field with `download`, since a service is never a download.
  package var service: UInt32 {
    get { download }
    set { download = newValue }
  }
}

package struct TaskEntry: Sendable {
  package var name: TextRef
  package var kind: ActionKind
  package var flags: TaskFlags = []
  package var priority: Int16 = 0
  package var policy: UInt32 = 0
  package var demand: UInt32 = 0
  package var fingerprint = Fingerprint(whole: 0, parts: 0)
  package var record = PlanRecord()

  package init(name: TextRef, kind: ActionKind) {
    self.name = name
    self.kind = kind
  }
}

package struct TextRef: Hashable, Sendable, BitwiseCopyable {
  package var offset: UInt32
  package var length: UInt32
  package init(offset: UInt32, length: UInt32) {
    self.offset = offset
    self.length = length
  }
  package static let empty = TextRef(offset: 0, length: 0)
}

/// 0 is the empty list.
package typealias ListIndex = UInt32

package struct EnvironmentEntry: Hashable, Sendable, BitwiseCopyable {
  package var base: UInt32
  package var own: UInt32
  package init(base: UInt32, own: UInt32) {
    self.base = base
    self.own = own
  }
}

package struct TaskVariable: Hashable, Sendable {
  package var name: TextRef
  package var value: TextRef
  /// nil if from the base.
  package var place: Int?
}

/// A list has each name at most once.
package struct EnvironmentItem: Hashable, Sendable, BitwiseCopyable {
  package var name: TextRef
  package var value: TextRef
  package init(name: TextRef, value: TextRef) {
    self.name = name
    self.value = value
  }
}

/// A property of a task that is one or several strings.
///
/// A new one needs a case here with its key, a field in `TaskTexts`, an entry in `TaskKey.ofTexts`,
/// and the code that uses it.
package enum TaskText: Int, CaseIterable, Sendable {
  case description
  case tags
  case secrets

  package var word: StaticString {
    switch self {
    case .description: "desc"
    case .tags: "tags"
    case .secrets: "secrets"
    }
  }

  package enum Value: Sendable {
    case text
    /// Lists that are parsed differently.
    case tags, names
  }

  package var takes: Value {
    switch self {
    case .description: .text
    case .tags: .tags
    case .secrets: .names
    }
  }

  package var isCommon: Bool {
    switch self {
    case .description: false
    case .tags, .secrets: true
    }
  }
}

package struct TaskTexts: Hashable, Sendable, BitwiseCopyable {
  private var description: ListIndex = 0
  private var tags: ListIndex = 0
  private var secrets: ListIndex = 0

  package init() {}

  package subscript(text: TaskText) -> ListIndex {
    get {
      switch text {
      case .description: description
      case .tags: tags
      case .secrets: secrets
      }
    }
    set {
      switch text {
      case .description: description = newValue
      case .tags: tags = newValue
      case .secrets: secrets = newValue
      }
    }
  }
}

extension Plan {
  package func texts(_ text: TaskText, of task: TaskID) -> Column<TextRef> {
    list(record(task).texts[text])
  }

  package func description(of task: TaskID) -> String {
    texts(.description, of: task).first.map { string($0) } ?? ""
  }
}

/// Most tasks of a plan share one policy.
package struct TaskPolicy: Hashable, Sendable, BitwiseCopyable {
  /// Per attempt; 0 for none.
  package var timeoutMilliseconds: UInt64
  package var retryMax: UInt32
  package var retryDelayMilliseconds: UInt32
  package var retryMaxDelayMilliseconds: UInt32
  package var retryBackoffPermille: UInt32
  package var retryJitterPermille: UInt32
  /// Exit codes to retry; 0 for all failures.
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

package enum ActionKind: UInt8, Sendable {
  case shell
  case command
  case download
  /// Asks the user, without a worker.
  case approve
  /// Done by a client of the library.
  case block
}

public struct TaskFlags: OptionSet, Sendable {
  public var rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// Faster than the inherited method, which other modules call through a witness table.
  @inlinable
  public func contains(_ other: TaskFlags) -> Bool { rawValue & other.rawValue == other.rawValue }

  package static let finally = TaskFlags(rawValue: 1 << 0)
  package static let conditionFalse = TaskFlags(rawValue: 1 << 1)
  package static let allowAnyFailure = TaskFlags(rawValue: 1 << 2)
  package static let failWhenInterrupted = TaskFlags(rawValue: 1 << 3)

  /// Represents a matrix without matrix tasks. With `conditionFalse` the matrix is empty and
  /// skipped; without, the task is a generator (`makesInstances`).
  package static let emptyMatrix = TaskFlags(rawValue: 1 << 4)
  /// Runs only if named, or for a dependent.
  package static let manual = TaskFlags(rawValue: 1 << 5)
  package static let interactive = TaskFlags(rawValue: 1 << 6)
  package static let control = TaskFlags(rawValue: 1 << 7)

  /// Other tasks read its values, or it refers to their folder.
  package static let leavesValues = TaskFlags(rawValue: 1 << 8)
  /// An `if` may read its values.
  package static let decidesOthers = TaskFlags(rawValue: 1 << 9)
  /// Some properties are evaluated when the task starts.
  package static let readsValues = TaskFlags(rawValue: 1 << 10)
  /// `if` is evaluated when all dependencies have ended.
  package static let lateCondition = TaskFlags(rawValue: 1 << 11)

  /// Has `inputs`, and is skipped if nothing has changed.
  package static let checked = TaskFlags(rawValue: 1 << 12)
  /// Also for downloads.
  package static let declaresOutputs = TaskFlags(rawValue: 1 << 13)
  /// Outputs are stored, and restored instead of running the task.
  package static let cached = TaskFlags(rawValue: 1 << 14)

  package static let service = TaskFlags(rawValue: 1 << 15)

  /// A generator adds its matrix tasks after the task that `after` names.
  package var makesInstances: Bool { contains(.emptyMatrix) && !contains(.conditionFalse) }

  static let declares: TaskFlags = [.checked, .declaresOutputs]

  static let notOfApprovals: TaskFlags = [
    .finally, .failWhenInterrupted, .interactive, .control, .checked, .declaresOutputs,
    .cached, .service,
  ]

  static let notOfExternalTasks: TaskFlags = [
    .finally, .interactive, .control, .checked, .declaresOutputs, .cached, .service,
  ]

  static let notOfServices: TaskFlags = [
    .finally, .allowAnyFailure, .failWhenInterrupted, .interactive, .checked, .declaresOutputs,
    .cached,
  ]

  static let all: TaskFlags = [
    .finally, .conditionFalse, .allowAnyFailure, .failWhenInterrupted, .emptyMatrix, .manual,
    .interactive, .control, .leavesValues, .decidesOthers, .readsValues, .lateCondition,
    .checked, .declaresOutputs, .cached, .service,
  ]
}
