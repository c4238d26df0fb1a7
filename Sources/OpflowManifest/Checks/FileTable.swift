internal import OpflowCore

/// The paths and patterns that tasks declare.
struct FileTable {
  /// One declaration by one task.
  struct Entry {
    var task: Int32
    var traits: Traits
    /// Nil for a task of the run that the manifest is added to.
    var place: Place?
    /// The text as declared: an index into `written`.
    var text: Int32
    /// The previous entry of the same path; -1 if there is none.
    var previous: Int32
  }

  /// The properties of a task that matter here.
  struct Traits: OptionSet {
    var rawValue: UInt8
    static let finally = Traits(rawValue: 1 << 0)
    static let cached = Traits(rawValue: 1 << 1)
    /// Set for the target of a download.
    static let download = Traits(rawValue: 1 << 2)
    static let cleaned = Traits(rawValue: 1 << 3)
  }

  /// Absolute and normalized paths, without links on the way to their folders.
  private(set) var paths = TextTable()
  private(set) var entries: [Entry] = []
  private var written = TextTable()
  /// For each path, its last entry.
  private var last: [Int32] = []
  private(set) var isPattern: [Bool] = []
  private let store = TextStore()
  private let scratch = TextStore()
  private let links: LinkResolver

  /// The limit on entries, which only matrices reach. More are ignored.
  private static let mostEntries = 1_000_000

  /// Whether a path that is a link is its destination as well.
  private let followsLinks: Bool

  init(_ links: LinkResolver, followsLinks: Bool) {
    self.links = links
    self.followsLinks = followsLinks
  }

  mutating func add(
    _ path: Text, in folder: Text, task: Int, traits: Traits, place: Place?, isPattern: Bool
  ) {
    guard entries.count < Self.mostEntries else { return }
    scratch.removeAll()
    var absolute = links.unlinked(
      links.absolute(path, from: folder, isPattern: isPattern, store: scratch),
      isPattern: isPattern, store: scratch)
    // A pattern of folders stays one.
    if isPattern, path.last == UInt8(ascii: "/"), absolute.last != UInt8(ascii: "/") {
      absolute = scratch.copy(absolute.string + "/")
    }
    let entry = Entry(
      task: Int32(truncatingIfNeeded: task), traits: traits, place: place,
      text: Int32(truncatingIfNeeded: written.insert(path, keptIn: store)), previous: -1)
    add(entry, at: absolute, isPattern: isPattern)
    if followsLinks, !isPattern, let target = links.destination(ofOneOfFew: absolute) {
      add(entry, at: scratch.copy(target), isPattern: false)
    }
  }

  private mutating func add(_ entry: Entry, at absolute: Text, isPattern: Bool) {
    let number = paths.insert(absolute, keptIn: store)
    if number == last.count {
      last.append(-1)
      self.isPattern.append(isPattern)
    }
    // The name looks like a pattern in the table, but is another file.
    if self.isPattern[number] != isPattern { return }
    var entry = entry
    entry.previous = last[number]
    entries.append(entry)
    last[number] = Int32(truncatingIfNeeded: entries.count - 1)
  }

  func text(_ entry: Entry) -> Text { written.texts[Int(entry.text)] }

  /// Returns at most the last two entries of a path.
  func newest(of path: Int) -> [Entry] {
    guard last[path] >= 0 else { return [] }
    let newest = entries[Int(last[path])]
    return newest.previous < 0 ? [newest] : [newest, entries[Int(newest.previous)]]
  }

  func lastEntry(of path: Int) -> Int { Int(last[path]) }
}

extension FileTable.Traits {
  /// What `cache` or `clean` would do to a file of another task; nil without these keys.
  var loss: (key: String, effect: String)? {
    if contains(.cached) { return ("cache", "`cache` would bring an old one back over it") }
    if contains(.cleaned) { return ("clean", "`clean` would remove it") }
    return nil
  }
}
