internal import OpflowCore

/// Paths and patterns that tasks declare, each once, and which tasks do.
struct FileTable {
  /// A task that declares one.
  struct Entry {
    var task: Int32
    var isFinally: Bool
    var place: Place
    /// As the task writes it: a number in `written`.
    var text: Int32
    /// The one of the same path before; -1 for none.
    var previous: Int32
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
    _ path: Text, in folder: Text, task: Int, isFinally: Bool, place: Place, isPattern: Bool
  ) {
    guard entries.count < Self.mostEntries else { return }
    scratch.removeAll()
    let absolute = PathText.absolute(path, from: folder, store: scratch)
    let number = paths.insert(absolute, keptIn: store)
    if number == last.count {
      last.append(-1)
      self.isPattern.append(isPattern)
    }
    entries.append(
      Entry(
        task: Int32(truncatingIfNeeded: task), isFinally: isFinally, place: place,
        text: Int32(truncatingIfNeeded: written.insert(path, keptIn: store)),
        previous: last[number]))
    last[number] = Int32(truncatingIfNeeded: entries.count - 1)
  }

  /// An entry's text, as its task has it.
  func text(_ entry: Entry) -> Text { written.texts[Int(entry.text)] }

  /// The last entry of a path; -1 for none.
  func lastEntry(of path: Int) -> Int { Int(last[path]) }
}
