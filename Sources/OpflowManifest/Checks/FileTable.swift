internal import OpflowCore

/// Paths and patterns that tasks declare, each once, and which tasks do.
struct FileTable {
  /// A task that declares one.
  struct Entry {
    var task: Int32
    var traits: Traits
    /// Nil for a task of the run that the manifest is added to.
    var place: Place?
    /// As the task writes it: a number in `written`.
    var text: Int32
    /// The one of the same path before; -1 for none.
    var previous: Int32
  }

  /// What of a task counts here.
  struct Traits: OptionSet {
    var rawValue: UInt8
    static let finally = Traits(rawValue: 1 << 0)
    static let cached = Traits(rawValue: 1 << 1)
    /// Of an output.
    static let download = Traits(rawValue: 1 << 2)
    static let cleaned = Traits(rawValue: 1 << 3)
  }

  /// Absolute and normal.
  private(set) var paths = TextTable()
  private(set) var entries: [Entry] = []
  private var written = TextTable()
  /// By path: its last entry, and whether it is a pattern.
  private var last: [Int32] = []
  private(set) var isPattern: [Bool] = []
  /// Holds the texts.
  private let store = TextStore()
  private let scratch = TextStore()

  /// Entries that are kept: with more of them, legs mostly, nobody reads what comes of it.
  private static let mostEntries = 1_000_000

  mutating func add(
    _ path: Text, in folder: Text, task: Int, traits: Traits, place: Place?, isPattern: Bool
  ) {
    guard entries.count < Self.mostEntries else { return }
    scratch.removeAll()
    let absolute = PathText.absolute(path, from: folder, store: scratch)
    let number = paths.insert(absolute, keptIn: store)
    if number == last.count {
      last.append(-1)
      self.isPattern.append(isPattern)
    }
    // A name that looks like a pattern of the table is another file.
    if self.isPattern[number] != isPattern { return }
    entries.append(
      Entry(
        task: Int32(truncatingIfNeeded: task), traits: traits, place: place,
        text: Int32(truncatingIfNeeded: written.insert(path, keptIn: store)),
        previous: last[number]))
    last[number] = Int32(truncatingIfNeeded: entries.count - 1)
  }

  /// An entry's text, as its task has it.
  func text(_ entry: Entry) -> Text { written.texts[Int(entry.text)] }

  /// The last entries of a path, at most two: of several tasks, two.
  func newest(of path: Int) -> [Entry] {
    guard last[path] >= 0 else { return [] }
    let newest = entries[Int(last[path])]
    return newest.previous < 0 ? [newest] : [newest, entries[Int(newest.previous)]]
  }

  /// The last entry of a path; -1 for none.
  func lastEntry(of path: Int) -> Int { Int(last[path]) }
}

extension FileTable.Traits {
  /// What a key of the task would do to a file that is not its own; nil where it has no such key.
  var loss: (key: String, effect: String)? {
    if contains(.cached) { return ("cache", "`cache` would bring an old one back over it") }
    if contains(.cleaned) { return ("clean", "`clean` would remove it") }
    return nil
  }
}
