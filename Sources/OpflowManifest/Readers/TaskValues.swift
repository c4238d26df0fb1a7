internal import OpflowCore

/// One task with all its values: `defaults` merged in, expressions evaluated. One record serves all
/// tasks in turn: texts are good until the next one is read. It is large, so what looks at it must not copy it.
struct TaskValues: ~Copyable {
  /// Also where the task stands.
  var key: Node
  var name: Text
  var kind = ActionKind.command
  var settings: TaskSettings
  /// Good for what is in `own` only; the rest is as in the defaults. Variables of these that the task does not set
  /// may be left out.
  var lists = TaskLists()
  var own = OwnSettings()
  // Not by a literal: that of another module is made by code that is not specialised.
  var flags = TaskFlags(rawValue: 0)
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
    case file(DeclaredPath)
    case variable(Scalar)
    /// Never without a word.
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
    /// A name as it is, a pattern with its escapes.
    var text: Text
    var isPattern = false
    /// How a name is written that looks like a pattern; empty for all others.
    var source = Text(start: nil, count: 0)
  }

  /// What a task says in each `TaskText`.
  struct TextValues {
    private var said: [(text: TaskText, value: Text)] = []

    /// What it says there, in the order of saying.
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

  /// Whether it says what it reads or writes.
  @inline(__always)
  var declaresFiles: Bool { !written.isEmpty || !inputs.isEmpty }

  /// Whether it is one of those that `NeededTasks.note` looks for: to hand it on copies it.
  @inline(__always)
  var isOfNote: Bool {
    switch kind {
    case .approve, .block, .download: true
    case .shell, .command:
      flags.contains(.finally) || service != nil || own.contains(.demands)
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
