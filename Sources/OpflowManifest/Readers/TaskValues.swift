internal import OpflowPlan

/// One large record serves all tasks: do not copy it, and do not keep its texts beyond the next
/// task.
struct TaskValues: ~Copyable {
  /// Also the task's place.
  var key: Node
  var name: ByteView
  var kind = ActionKind.command
  var settings: TaskSettings
  /// Only valid for the settings in `own`. Inherited variables may be missing.
  var lists = TaskLists()
  var own = OwnSettings()
  // A literal would not be specialized across modules.
  var flags = TaskFlags(rawValue: 0)
  /// The script of `shell`, or the question of an approval.
  var script: Scalar?
  var words: [Scalar] = []
  var download: Download?
  var allowedCodes: [Int32] = []
  /// Names of secrets live as long as the compilation.
  var texts = TextValues()
  var needs: [Need] = []
  /// The `if` of a task that can never run, because it is `false` itself.
  var literalFalse: Node?
  /// The rest of an `if` with values of other tasks.
  var lateCondition: ByteView?
  var readsValues = false
  /// `decides` if the task's `if` reads the values.
  var valueReads: [(id: ByteView, place: Place, decides: Bool)] = []
  /// With the definition, these decide if the task must run.
  var inputs: [Input] = []
  var hasInputs = false
  /// The declared outputs, or the download's target.
  var written: [WrittenFile] = []
  var service: ServiceValues?
  var processes = ProcessRules()
  /// Set for the generator of a matrix.
  var instances: InstanceMaker.Instances?

  struct Need {
    var name: ByteView
    var node: Node
    var condition: NeedCondition
    /// The hash of the matrix tasks' IDs; nil for a plain ID.
    var instancesDigest: UInt64?
    /// The name as written; `name` becomes the full ID.
    var written: ByteView
    /// The range of resolved needs.
    var firstEdge = 0
    var edgeCount = 0

    init(name: ByteView, node: Node, condition: NeedCondition) {
      self.name = name
      self.node = node
      self.condition = condition
      written = name
    }
  }

  enum Input {
    case file(DeclaredPath)
    case variable(Scalar)
    case command([Scalar])
  }

  struct WrittenFile {
    enum Kind {
      case download, output
    }

    var path: DeclaredPath
    var kind: Kind
  }

  struct DeclaredPath {
    var node: Node
    /// A literal name, or a pattern with escapes.
    var text: ByteView
    var isPattern = false
    /// The escaped form of a name that looks like a pattern.
    var source = ByteView.empty
  }

  struct TextValues {
    private var said: [(text: TaskText, value: ByteView)] = []

    subscript(text: TaskText) -> [ByteView] {
      said.isEmpty ? [] : said.filter { $0.text == text }.map(\.value)
    }

    mutating func add(_ value: ByteView, as text: TaskText) { said.append((text, value)) }

    mutating func remove(_ text: TaskText, where isUnwanted: (ByteView) -> Bool) {
      said.removeAll { $0.text == text && isUnwanted($0.value) }
    }

    mutating func removeAll() { said.removeEach() }
  }

  @inline(__always)
  var declaresFiles: Bool { !written.isEmpty || !inputs.isEmpty }

  /// `NeededTasks.note` copies such tasks.
  @inline(__always)
  var isOfNote: Bool {
    switch kind {
    case .approve, .block, .download: true
    case .shell, .command:
      flags.contains(.finally) || service != nil || own.contains(.demands) || literalFalse != nil
    }
  }

  init(_ defaults: TaskDefaults) {
    key = Node(0)
    name = ByteView.empty
    settings = defaults.settings
  }

  mutating func begin(key: Node, name: ByteView, _ defaults: TaskDefaults) {
    self.key = key
    self.name = name
    kind = .command
    settings = defaults.settings
    own = []
    flags = TaskFlags(rawValue: 0)
    script = nil
    words.removeEach()
    if download != nil { download = nil }
    if !allowedCodes.isEmpty { allowedCodes.removeAll() }
    texts.removeAll()
    literalFalse = nil
    lateCondition = nil
    readsValues = false
    valueReads.removeEach()
    needs.removeEach()
    hasInputs = false
    inputs.removeEach()
    if service != nil { service = nil }
    processes = ProcessRules()
    instances = nil
    written.removeEach()
  }
}

struct Download {
  var urls: [Scalar] = []
  var to: Scalar?
  /// Lower-case hexadecimal.
  var sha256: ByteView?
  /// The rest of a `sha256` with values of other tasks.
  var lateSHA256: ByteView?
  var sha512: ByteView?
  var sizeBytes: UInt64?
  var headers: [(name: ByteView, value: Scalar)] = []
  var mode: UInt32?
  var resumes = true
  var maximumBytesPerSecond: UInt64?
}

struct Directory {
  var path: ByteView
  /// The path with a constant for `run.id`, for fingerprints.
  var stable: ByteView
}

struct EnvironmentList {
  struct Variable {
    var name: ByteView
    var value: Scalar
  }

  private(set) var variables: [Variable] = []
  private var names = TextTable()

  mutating func set(_ name: ByteView, _ value: Scalar) {
    let (index, isNew) = names.insert(name)
    if isNew {
      variables.append(Variable(name: name, value: value))
    } else {
      variables[index].value = value
    }
  }

  mutating func removeAll() {
    variables.removeEach()
    names.removeAll()
  }
}

struct Demands {
  /// An amount of 0 cancels a default.
  private(set) var items: [DemandItem] = []
  private var places: [UInt32: Int] = [:]

  mutating func set(_ resource: UInt32, _ amount: UInt64) {
    let item = DemandItem(resource: resource, amount: amount)
    if let place = places[resource] {
      items[place] = item
    } else {
      places[resource] = items.count
      items.append(item)
    }
  }

  /// The default is one CPU, or one download.
  func resolved(for kind: ActionKind, isService: Bool = false) -> [DemandItem] {
    let standard = kind == .download ? ResourceEntry.download : ResourceEntry.cpu
    var result = items
    // Services mostly wait.
    if !isService, !result.contains(where: { $0.resource == standard }) {
      result.append(DemandItem(resource: standard, amount: 1))
    }
    result.removeAll { $0.amount == 0 }
    result.sort { $0.resource < $1.resource }
    return result
  }
}

/// Set by `defaults`; each task starts from a copy.
struct TaskSettings {
  var shell: [Scalar]
  var directory: Directory
  /// `retryCodes` has the retried exit codes.
  var policy = TaskPolicy()
  var retryCodes: [Int32] = []
  /// True if `retry` sets `max`; downloads have another default.
  var hasRetryMax = false
  var priority: Int16 = 0
  var failsWhenInterrupted = false

  func policy(for kind: ActionKind) -> TaskPolicy {
    var policy = policy
    if kind == .download, !hasRetryMax { policy.retryMax = 3 }
    return policy
  }

  /// Downloads have no exit codes.
  func retryCodes(for kind: ActionKind) -> [Int32] { kind == .download ? [] : retryCodes }
}

struct TaskLists {
  var environment = EnvironmentList()
  var demands = Demands()
}

struct TaskDefaults {
  var settings: TaskSettings
  var lists = TaskLists()
}

/// May differ from `TaskDefaults`.
struct OwnSettings: OptionSet {
  let rawValue: UInt8

  static let shell = OwnSettings(rawValue: 1)
  static let directory = OwnSettings(rawValue: 2)
  static let environment = OwnSettings(rawValue: 4)
  static let demands = OwnSettings(rawValue: 8)
  static let policy = OwnSettings(rawValue: 16)
  static let all: OwnSettings = [.shell, .directory, .environment, .demands, .policy]
}
