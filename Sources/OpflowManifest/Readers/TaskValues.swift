internal import OpflowCore

/// One task with all its values: `defaults` merged in, expressions evaluated. One record serves all
/// tasks in turn: texts are good until the next one is read.
struct TaskValues {
  /// Also where the task stands.
  var key: Node
  var name: Text
  var kind = ActionKind.command
  var settings: TaskSettings
  /// Good for what is in `own` only; the rest is as in the defaults.
  var lists = TaskLists()
  var own = OwnSettings()
  var flags: TaskFlags = []
  /// Of a `shell` action.
  var script: Scalar?
  /// Of a `command`.
  var words: [Scalar] = []
  var download: Download?
  var allowedCodes: [Int32] = []
  /// What it says in texts; names of secrets are good as long as the compilation.
  var texts = TextValues()
  var needs: [Need] = []
  /// What is left of an `if` that reads values of other tasks.
  var lateCondition: Text?
  /// Whether anything of it reads such values.
  var readsValues = false
  /// The tasks whose values it reads, as it writes them, where, and whether its `if` does.
  var valueReads: [(id: Text, place: Place, decides: Bool)] = []
  /// What decides besides its definition whether it has to run, where it says so.
  var inputs: [Input] = []
  var hasInputs = false
  /// The files that the task says it writes.
  var written: [WrittenFile] = []
  /// Nil for what ends by itself.
  var service: ServiceValues?
  var processes = ProcessRules()
  /// Nil where the task makes no legs of a family.
  var legs: LegMaker.Legs?

  /// A need as it is written: which tasks there are is not asked.
  struct Need {
    var name: Text
    var node: Node
    var condition: NeedCondition
    /// Of the names of the legs that it stands for; nil for a task's own name.
    var legsDigest: UInt64?
    /// As the task writes it, where `name` is that of all files.
    var written: Text
    /// Where the needs of the task begin that it stands for, and how many these are.
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
    /// A path or a pattern.
    case file(Scalar)
    case variable(Scalar)
    /// Never without a word.
    case command([Scalar])
  }

  struct WrittenFile {
    enum Kind {
      case download, output
    }

    var path: Scalar
    var kind: Kind
  }

  /// What a task says in each `TaskText`.
  struct TextValues {
    private var values: [[Text]] = TaskText.allCases.map { _ in [] }
    private var areAny = false

    subscript(text: TaskText) -> [Text] {
      get { values[text.rawValue] }
      _modify {
        areAny = true
        yield &values[text.rawValue]
      }
    }

    mutating func removeAll() {
      guard areAny else { return }
      for place in values.indices { values[place].removeAll(keepingCapacity: true) }
      areAny = false
    }
  }

  /// For what comes before the first task.
  init(_ defaults: TaskDefaults) {
    key = Node(0)
    name = Text(start: nil, count: 0)
    settings = defaults.settings
  }

  /// Starts a task over.
  mutating func begin(key: Node, name: Text, _ defaults: TaskDefaults) {
    self.key = key
    self.name = name
    kind = .command
    settings = defaults.settings
    own = []
    // Not by a literal: that of another module is made by code that is not specialised.
    flags = TaskFlags(rawValue: 0)
    script = nil
    if !words.isEmpty { words.removeAll(keepingCapacity: true) }
    if download != nil { download = nil }
    if !allowedCodes.isEmpty { allowedCodes.removeAll() }
    texts.removeAll()
    lateCondition = nil
    readsValues = false
    if !valueReads.isEmpty { valueReads.removeAll(keepingCapacity: true) }
    if !needs.isEmpty { needs.removeAll(keepingCapacity: true) }
    hasInputs = false
    if !inputs.isEmpty { inputs.removeAll(keepingCapacity: true) }
    if service != nil { service = nil }
    processes = ProcessRules()
    legs = nil
    if !written.isEmpty { written.removeAll(keepingCapacity: true) }
  }
}

/// What a download fetches, and what must be true of it.
struct Download {
  /// First choice first.
  var urls: [Scalar] = []
  var to: Scalar?
  /// Lower-case hexadecimal.
  var sha256: Text?
  /// What is left of a `sha256` that reads values of other tasks.
  var lateSHA256: Text?
  var sha512: Text?
  var sizeBytes: UInt64?
  var headers: [(name: Text, value: Scalar)] = []
  /// Permission bits.
  var mode: UInt32?
  var resumes = true
  var maximumBytesPerSecond: UInt64?
}
