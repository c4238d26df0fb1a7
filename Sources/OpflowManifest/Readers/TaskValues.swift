internal import OpflowCore

/// One task with all values. One large record serves all tasks: do not copy it, and do not keep its
/// texts beyond the next task.
struct TaskValues: ~Copyable {
  /// Also the task's place.
  var key: Node
  var name: Text
  var kind = ActionKind.command
  var settings: TaskSettings
  /// Only valid for the settings in `own`. Inherited variables may be missing.
  var lists = TaskLists()
  var own = OwnSettings()
  // A literal would not be specialized across modules.
  var flags = TaskFlags(rawValue: 0)
  /// The script of `shell`, or the question of an approval.
  var script: Scalar?
  /// The arguments of `command`.
  var words: [Scalar] = []
  var download: Download?
  var allowedCodes: [Int32] = []
  /// Names of secrets live as long as the compilation.
  var texts = TextValues()
  var needs: [Need] = []
  /// What remains of an `if` with values of other tasks.
  var lateCondition: Text?
  /// Whether it reads values of other tasks.
  var readsValues = false
  /// The tasks whose values it reads, and whether its `if` does.
  var valueReads: [(id: Text, place: Place, decides: Bool)] = []
  /// The inputs that decide, with the definition, whether the task must run.
  var inputs: [Input] = []
  var hasInputs = false
  /// The declared outputs, or the download's target.
  var written: [WrittenFile] = []
  /// Nil if the task is not a service.
  var service: ServiceValues?
  var processes = ProcessRules()
  /// Set for the generator of a matrix.
  var legs: LegMaker.Legs?

  /// An unresolved need.
  struct Need {
    var name: Text
    var node: Node
    var condition: NeedCondition
    /// The hash of the matrix tasks' IDs; nil for a plain ID.
    var legsDigest: UInt64?
    /// The name as written; `name` becomes the full ID.
    var written: Text
    /// The range of resolved needs that it stands for.
    var firstEdge = 0
    var edgeCount = 0

    init(name: Text, node: Node, condition: NeedCondition) {
      self.name = name
      self.node = node
      self.condition = condition
      written = name
    }
  }

  enum Input {
    case file(DeclaredPath)
    case variable(Scalar)
    /// Has at least one argument.
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
    var text: Text
    var isPattern = false
    /// The escaped form of a name that looks like a pattern.
    var source = Text(start: nil, count: 0)
  }

  /// The values of each `TaskText`.
  struct TextValues {
    private var said: [(text: TaskText, value: Text)] = []

    /// The values in the order of `add`.
    subscript(text: TaskText) -> [Text] {
      said.isEmpty ? [] : said.filter { $0.text == text }.map(\.value)
    }

    mutating func add(_ value: Text, as text: TaskText) { said.append((text, value)) }

    mutating func remove(_ text: TaskText, where isUnwanted: (Text) -> Bool) {
      said.removeAll { $0.text == text && isUnwanted($0.value) }
    }

    mutating func removeAll() {
      said.removeEach()
    }
  }

  @inline(__always)
  var declaresFiles: Bool { !written.isEmpty || !inputs.isEmpty }

  /// Whether to pass the task to `NeededTasks.note`, which copies it.
  @inline(__always)
  var isOfNote: Bool {
    switch kind {
    case .approve, .block, .download: true
    case .shell, .command:
      flags.contains(.finally) || service != nil || own.contains(.demands)
    }
  }

  /// Creates the record before the first task.
  init(_ defaults: TaskDefaults) {
    key = Node(0)
    name = Text(start: nil, count: 0)
    settings = defaults.settings
  }

  /// Resets the record for the next task.
  mutating func begin(key: Node, name: Text, _ defaults: TaskDefaults) {
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
    lateCondition = nil
    readsValues = false
    valueReads.removeEach()
    needs.removeEach()
    hasInputs = false
    inputs.removeEach()
    if service != nil { service = nil }
    processes = ProcessRules()
    legs = nil
    written.removeEach()
  }
}

struct Download {
  /// In order of preference.
  var urls: [Scalar] = []
  var to: Scalar?
  /// Lower-case hexadecimal.
  var sha256: Text?
  /// What remains of a `sha256` with values of other tasks.
  var lateSHA256: Text?
  var sha512: Text?
  var sizeBytes: UInt64?
  var headers: [(name: Text, value: Scalar)] = []
  /// Permission bits.
  var mode: UInt32?
  var resumes = true
  var maximumBytesPerSecond: UInt64?
}
