internal import OpflowPlan

/// Finds the entries that cover another path or pattern with any files: a parent folder, or a
/// pattern that matches all of it. A mere overlap of patterns depends on the files.
struct CoverTable {
  private var folders = TextTable()
  /// Entries about the contents of each folder.
  private var own: [Contents] = []
  /// The nearest folder with entries; -1 for none, nil if unknown.
  private var nearest: [Int32?] = []
  /// The literal beginnings of patterns, and the patterns of each.
  private var beginnings = TextTable()
  private var patterns: [[Pattern]] = []

  private struct Contents {
    /// The entry for the folder itself.
    var path: Int?
    /// The lengths of the patterns' beginnings, sorted.
    var lengths: [Int] = []
    var isEmpty: Bool { path == nil && lengths.isEmpty }
  }

  private struct Pattern {
    let number: Int
    let pattern: PathPattern
    let text: ByteView
    /// The literal suffix of all matches; empty for folders, which cover their contents.
    let end: ByteView

    init?(_ number: Int, _ text: ByteView) {
      guard let pattern = PathPattern(text.string) else { return nil }
      self.number = number
      self.pattern = pattern
      self.text = text
      let special = text.lastIndex { PathPattern.isEscaped($0) || $0 == UInt8(ascii: "]") }
      end = text.part((pattern.fitsFolders ? text.count : (special ?? -1) + 1)..<text.count)
    }
  }

  /// Beyond this limit, nothing is found.
  private static let mostFolders = 1_000_000

  init(_ table: FileTable) {
    for (number, path) in table.paths.texts.enumerated() {
      if !table.isPattern[number] {
        own[self.number(of: path)].path = number
      } else if let pattern = Pattern(number, path) {
        add(pattern)
      }
    }
  }

  private mutating func add(_ pattern: Pattern) {
    let beginning = Self.beginning(of: pattern.text)
    let (place, isNew) = beginnings.insert(beginning)
    if isNew {
      patterns.append([])
      let folder = number(of: Self.parent(of: beginning))
      let at = own[folder].lengths.firstIndex { $0 >= beginning.count } ?? own[folder].lengths.count
      if at == own[folder].lengths.count || own[folder].lengths[at] != beginning.count {
        own[folder].lengths.insert(beginning.count, at: at)
      }
    }
    patterns[place].append(pattern)
  }

  /// Finds the entries that cover `path`, except an equal one, from the nearest folder up. `path`
  /// must be absolute and normalized.
  ///
  /// - Parameter left: The remaining budget, in bytes compared.
  mutating func forEach(
    over path: ByteView, isPattern: Bool, left: inout Int, _ body: (Int) -> Void
  ) {
    let beginning = isPattern ? Self.beginning(of: path) : path
    var inner: PathPattern?
    var names: [[UInt8]] = []
    var folder = nearest(to: Self.parent(of: beginning))
    while folder >= 0, left > 0 {
      let text = folders.texts[folder]
      if let number = own[folder].path { body(number) }
      for length in own[folder].lengths where length <= beginning.count {
        left -= length
        guard let place = beginnings.index(of: path.part(0..<length)) else { continue }
        for outer in patterns[place] {
          if left <= 0 { return }
          left -= 1
          guard path.hasSuffix(outer.end), !outer.text.isSame(as: path) else { continue }
          left -= path.count * outer.text.count
          if isPattern {
            inner = inner ?? PathPattern(path.string)
            if let inner, outer.pattern.covers(inner) || outer.pattern.holds(inner) {
              body(outer.number)
            }
          } else {
            if names.isEmpty { names = Self.names(of: path) }
            if outer.pattern.fitsFolders ? outer.pattern.holds(names) : outer.pattern.matches(names)
            {
              body(outer.number)
            }
          }
        }
      }
      left -= 1
      if text.isEmpty { return }
      folder = nearest(to: Self.parent(of: text))
    }
  }

  private mutating func nearest(to folder: ByteView) -> Int {
    var passed: [Int] = []
    var found: Int32?
    var next = folder
    while found == nil {
      if folders.count >= Self.mostFolders { return -1 }
      let number = number(of: next)
      found =
        nearest[number] ?? (own[number].isEmpty ? nil : Int32(truncatingIfNeeded: number))
        ?? (next.isEmpty ? -1 : nil)
      passed.append(number)
      next = Self.parent(of: next)
    }
    for number in passed { nearest[number] = found }
    return Int(found ?? -1)
  }

  private mutating func number(of folder: ByteView) -> Int {
    let (number, isNew) = folders.insert(folder)
    if isNew {
      own.append(Contents())
      nearest.append(nil)
    }
    return number
  }

  private static func beginning(of pattern: ByteView) -> ByteView {
    pattern.part(0..<(pattern.firstIndex(where: PathPattern.isEscaped) ?? pattern.count))
  }

  private static func parent(of path: ByteView) -> ByteView {
    path.part(0..<(path.lastIndex(of: UInt8(ascii: "/")) ?? 0))
  }

  private static func names(of path: ByteView) -> [[UInt8]] {
    path.split(separator: UInt8(ascii: "/")).map { Array($0) }
  }
}

struct FileTable {
  struct Entry {
    var task: Int32
    var traits: Traits
    /// Nil for a task of the run that the manifest is added to.
    var place: Place?
    /// As declared: an index into `written`.
    var text: Int32
    /// The previous entry of the same path, or -1.
    var previous: Int32
  }

  struct Traits: OptionSet {
    var rawValue: UInt8
    static let finally = Traits(rawValue: 1 << 0)
    static let cached = Traits(rawValue: 1 << 1)
    static let download = Traits(rawValue: 1 << 2)
    static let cleaned = Traits(rawValue: 1 << 3)
  }

  /// Absolute and normalized; links on the way to the folder are resolved.
  private(set) var paths = TextTable()
  private(set) var entries: [Entry] = []
  private var written = TextTable()
  /// The last entry of each path.
  private var last: [Int32] = []
  private(set) var isPattern: [Bool] = []
  private let store = TextStore()
  private let scratch = TextStore()
  private let links: LinkResolver

  private static let mostEntries = 1_000_000

  /// A link also counts as its destination.
  private let followsLinks: Bool

  init(_ links: LinkResolver, followsLinks: Bool) {
    self.links = links
    self.followsLinks = followsLinks
  }

  mutating func add(_ file: DeclaredFiles.File, of task: DeclaredFiles) {
    guard entries.count < Self.mostEntries else { return }
    scratch.removeAll()
    let (path, isPattern) = (file.text, file.isPattern)
    var absolute = links.unlinked(
      links.absolute(path, from: task.folder, isPattern: isPattern, store: scratch),
      isPattern: isPattern, store: scratch)
    // A pattern of folders stays one.
    if isPattern, path.last == UInt8(ascii: "/"), absolute.last != UInt8(ascii: "/") {
      absolute = scratch.copy(absolute.string + "/")
    }
    let entry = Entry(
      task: Int32(truncatingIfNeeded: task.task),
      traits: file.isDownload ? task.traits.union(.download) : task.traits, place: file.place,
      text: Int32(truncatingIfNeeded: written.insert(path, keptIn: store)), previous: -1)
    add(entry, at: absolute, isPattern: isPattern)
    if followsLinks, !isPattern, let target = links.destination(ofOneOfFew: absolute) {
      add(entry, at: scratch.copy(target), isPattern: false)
    }
  }

  private mutating func add(_ entry: Entry, at absolute: ByteView, isPattern: Bool) {
    let number = paths.insert(absolute, keptIn: store)
    if number == last.count {
      last.append(-1)
      self.isPattern.append(isPattern)
    }
    // An equal path of the other kind is another file.
    if self.isPattern[number] != isPattern { return }
    var entry = entry
    entry.previous = last[number]
    entries.append(entry)
    last[number] = Int32(truncatingIfNeeded: entries.count - 1)
  }

  func text(_ entry: Entry) -> ByteView { written.texts[Int(entry.text)] }

  /// Returns at most the last two entries of a path.
  func newest(of path: Int) -> [Entry] {
    guard last[path] >= 0 else { return [] }
    let newest = entries[Int(last[path])]
    return newest.previous < 0 ? [newest] : [newest, entries[Int(newest.previous)]]
  }

  func lastEntry(of path: Int) -> Int { Int(last[path]) }
}

extension FileTable.Traits {
  /// What `cache` or `clean` does to a file of another task; nil without these keys.
  var loss: (key: String, effect: String)? {
    if contains(.cached) { return ("cache", "`cache` would overwrite it with an old copy") }
    if contains(.cleaned) { return ("clean", "`clean` would delete it") }
    return nil
  }
}
