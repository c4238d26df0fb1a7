package import OpflowBase
package import OpflowPlan
package import OpflowSystem

/// Finds the files that match a pattern. `**` does not enter links or folders whose names begin
/// with a dot, so it always terminates. Unreadable folders are errors: a file missed silently would
/// be a missing task.
package struct FileNames {
  struct Found {
    var names = ByteStrings()
    /// Links, and files reached through a link.
    var linked = ByteStrings()
    /// Links to folders that `**` does not reach by another path, and patterns that would enter
    /// them.
    var unentered: [(link: String, pattern: String)] = []
  }

  /// The path to a folder leads directly or through a link.
  private enum Way { case plain, unknown, linked }

  private let pattern: PathPattern
  private let text: String
  /// Ends in a slash.
  private let root: [UInt8]
  private var found = Found()
  /// Folders to search, relative to the root, with a trailing slash, and the pattern part to match
  /// there.
  private var open: [(folder: [UInt8], part: Int, way: Way)] = [([], 0, .plain)]
  /// Links that `**` met, with the pattern part.
  private var passed: [(link: [UInt8], part: Int)] = []
  private var way = Way.plain
  private var seen: Set<[UInt8]> = []
  private var lookedAt = 0
  private var fault: FileNameFault?
  private let folders: FolderMemory
  /// nil if a link counts as its target.
  private let links: LinkWalk?

  /// More names are probably an error in the pattern.
  private static let mostNames = 4_000_000
  private static let slash = UInt8(ascii: "/")

  /// When a file counts whose name is exactly the pattern's text.
  package enum WrittenName {
    /// Always, like the matching files.
    case beside
    /// Only if the pattern matches nothing.
    case insteadOfNone
  }

  /// Maybe millions of names, relative to `folder` and sorted by bytes. With `keepsLinks`, links
  /// count by their own names, else as their targets.
  package static func fitting(
    _ text: String, in folder: String, folders: FolderMemory = FolderMemory(),
    written: WrittenName = .beside, keepsLinks: Bool = false
  ) -> Result<ByteStrings, FileNameFault> {
    all(
      fitting: text, in: folder, folders: folders, written: written,
      links: keepsLinks ? LinkWalk() : nil
    ).map { found in
      var names = found.names
      if !found.linked.isEmpty {
        for place in 0..<found.linked.count { found.linked.with(place) { names.append($0) } }
        names.sort()
      }
      return names
    }
  }

  /// Fails if a name is not UTF-8.
  package static func texts(
    fitting text: String, in folder: String
  ) -> Result<[String], FileNameFault> {
    fitting(text, in: folder).flatMap { names in
      var texts: [String] = []
      texts.reserveCapacity(names.count)
      for place in 0..<names.count {
        guard let name = String(validating: names[place], as: UTF8.self) else {
          return .failure(FileNameFault("the name `\(names.text(place))` is not UTF-8"))
        }
        texts.append(name)
      }
      return .success(texts)
    }
  }

  /// `links` as `keepsLinks` above.
  static func all(
    fitting text: String, in folder: String, folders: FolderMemory, written: WrittenName,
    links: LinkWalk? = nil
  ) -> Result<Found, FileNameFault> {
    guard let pattern = PathPattern(text) else {
      return .failure(FileNameFault("its `[` is not closed"))
    }
    var search = FileNames(text, pattern, folder, folders, links)
    search.run()
    // Most patterns match their own text, such as `*.c`.
    if !pattern.fits(pattern.written),
      written == .beside || search.found.names.isEmpty && search.found.linked.isEmpty
    {
      search.addWritten()
    }
    if let fault = search.fault { return .failure(fault) }
    search.found.names.sort()
    search.found.linked.sort()
    if !search.passed.isEmpty { search.noteUnentered() }
    return .success(search.found)
  }

  private init(
    _ text: String, _ pattern: PathPattern, _ folder: String, _ folders: FolderMemory,
    _ links: LinkWalk?
  ) {
    self.text = text
    self.pattern = pattern
    self.folders = folders
    self.links = links
    root = Array((pattern.isAbsolute ? "/" : folder.hasSuffix("/") ? folder : folder + "/").utf8)
  }

  private mutating func run() {
    while let (folder, part, way) = open.popLast(), fault == nil {
      if part == pattern.parts.count { continue }
      let isLast = part == pattern.parts.count - 1
      self.way = way
      if case .literal = pattern.parts[part], !isLast {
        // The next step checks once for several names.
      } else if way == .unknown {
        self.way = isLinked(folder) ? .linked : .plain
      }
      switch pattern.parts[part] {
      case .literal(let name):
        if isLast {
          add(folder + name, .unknown)
        } else {
          let next = links == nil || way == .linked ? way : .unknown
          open.append((folder + name + [Self.slash], part + 1, next))
        }
      case .pattern(let names):
        look(into: folder, from: names.beginning) { search, name, kind in
          guard names.matches(name) else { return }
          if isLast {
            search.add(folder, name, kind)
          } else if kind == .directory || kind == .link || kind == .unknown {
            let way: Way = kind == .directory || search.links == nil ? search.way : .unknown
            search.open.append((folder + Array(name) + [Self.slash], part + 1, way))
          }
        }
      case .anyFolders:
        guard seen.insert(Array("\(part) ".utf8) + folder).inserted else { continue }
        if isLast, !folder.isEmpty { add(folder.dropLast(), .directory) }
        look(into: folder, from: []) { search, name, kind in
          guard name.first != UInt8(ascii: "."), search.isFolderItself(folder, name, kind, part)
          else { return }
          search.open.append((folder + Array(name) + [Self.slash], part, search.way))
        }
        // Before subfolders: then almost nothing is left to sort.
        if !isLast { open.append((folder, part + 1, self.way)) }
      }
    }
  }

  private func isLinked(_ folder: [UInt8]) -> Bool {
    let head = pattern.isAbsolute ? [Self.slash] : []
    return links?.hasLinks(toFolder: head + folder.dropLast(), from: root) ?? false
  }

  private mutating func addWritten() {
    let names = pattern.written
    if links == nil {
      way = .plain
    } else {
      way = isLinked(names.dropLast().flatMap { $0 + [Self.slash] }) ? .linked : .plain
    }
    add(Array(names.joined(separator: [Self.slash])), .unknown)
  }

  private func path(_ name: [UInt8]) -> [UInt8] { root + name + [0] }

  private mutating func fail(at name: [UInt8], _ error: Errno) {
    fault = FileNameFault("`\(NameCharacters.text(root + name))`: \(error)")
  }

  /// Calls `body` for entries whose names begin with `beginning`.
  private mutating func look(
    into folder: [UInt8], from beginning: [UInt8],
    _ body: (inout FileNames, UnsafeRawBufferPointer, FolderEntries.Kind) -> Void
  ) {
    let openCount = open.count
    do throws(Errno) {
      let listing = try folders.listing(of: path(folder), most: Self.mostNames)
      for place in listing.places(from: beginning) {
        lookedAt += 1
        if lookedAt > Self.mostNames { throw .tooBig }
        listing.names.with(place) { body(&self, $0, listing.kind(place)) }
        if fault != nil { return }
      }
    } catch {
      switch error {
      case .noSuchFile, .notADirectory: return
      // A link that counts by its own name is not a folder.
      case .tooManyLinks where links != nil: return
      case .tooBig: fault = FileNameFault("the search would check more than 4 million names")
      default: fail(at: folder, error)
      }
    }
    open[openCount...].reverse()
  }

  /// Remembers links for `noteUnentered`.
  private mutating func isFolderItself(
    _ folder: [UInt8], _ name: UnsafeRawBufferPointer, _ kind: FolderEntries.Kind, _ part: Int
  ) -> Bool {
    let link = folder + Array(name)
    switch kind {
    case .directory: return true
    case .file, .other: return false
    case .link: break
    case .unknown:
      guard let status = try? Path.linkStatus(ofBytes: path(link), from: File.workingFolder) else {
        return false
      }
      if status.kind != .link { return status.kind == .directory }
    }
    if links != nil { passed.append((link, part)) }
    return false
  }

  /// Notes links to folders that the search does not reach by another path.
  private mutating func noteUnentered() {
    let names = text.split(separator: "/")
    let fitting = Set((0..<found.linked.count).map { found.linked[$0] })
    for (link, part) in passed {
      let head = pattern.isAbsolute ? [Self.slash] : []
      // One name for each pattern part before `**`.
      let start = Array(
        link.split(separator: Self.slash).prefix(part).joined(separator: [Self.slash]))
      guard found.unentered.count < Self.mostUnentered, !fitting.contains(head + link),
        let real = realFolder(link), let walked = realFolder(start)
      else { continue }
      let above = walked == "/" ? walked : walked + "/"
      let isWalked =
        (real + "/").hasPrefix(above)
        && real.dropFirst(above.count).split(separator: "/").allSatisfy { $0.first != "." }
      if isWalked { continue }
      let text = NameCharacters.text(head + link)
      found.unentered.append(
        (
          text,
          ([PathPattern.text(ofName: text)] + names[part...].map(String.init)).joined(
            separator: "/")
        ))
    }
  }

  /// Without links; nil also if not UTF-8.
  private func realFolder(_ name: [UInt8]) -> String? {
    guard let path = String(validating: root + name, as: UTF8.self), Path.isDirectory(path) else {
      return nil
    }
    return try? Path.real(path)
  }

  private static let mostUnentered = 5

  private mutating func add(_ path: some Collection<UInt8>, _ kind: FolderEntries.Kind) {
    Array(path).withUnsafeBytes { add([], $0, kind) }
  }

  private mutating func add(
    _ folder: [UInt8], _ name: UnsafeRawBufferPointer, _ kind: FolderEntries.Kind
  ) {
    switch kind {
    case .file: if !pattern.fitsFolders { keep(folder, name) }
    case .directory: if pattern.fitsFolders { keep(folder, name) }
    case .other: break
    case .link where links != nil && !pattern.fitsFolders: keep(folder, name, isLink: true)
    case .link, .unknown:
      let whole = folder + Array(name)
      do throws(Errno) {
        if links != nil,
          try Path.linkStatus(ofBytes: path(whole), from: File.workingFolder).kind == .link
        {
          let counts = !pattern.fitsFolders || isFolder(whole)
          return counts ? keep(folder, name, isLink: true) : ()
        }
        let status = try Path.status(ofBytes: path(whole))
        add(
          folder, name,
          status.kind == .directory ? .directory : status.kind == .file ? .file : .other)
      } catch {
        if error == .noSuchFile || error == .notADirectory { return }
        if links != nil, error == .tooManyLinks { return }
        fail(at: whole, error)
      }
    }
  }

  private func isFolder(_ name: [UInt8]) -> Bool {
    (try? Path.status(ofBytes: path(name)))?.kind == .directory
  }

  private mutating func keep(
    _ folder: [UInt8], _ name: UnsafeRawBufferPointer, isLink: Bool = false
  ) {
    let head = pattern.isAbsolute ? [Self.slash] + folder : folder
    head.withUnsafeBytes {
      if isLink || way == .linked {
        found.linked.append($0, name)
      } else {
        found.names.append($0, name)
      }
    }
  }
}

/// Sorted by the bytes of the names.
struct FolderListing {
  private(set) var names = ByteStrings()
  private var kinds: [FolderEntries.Kind] = []

  /// Throws `tooBig` for more than `most` entries.
  fileprivate init(_ folder: [UInt8], _ most: Int) throws(Errno) {
    var (names, kinds) = (ByteStrings(), [FolderEntries.Kind]())
    try FolderEntries.forEach(inBytes: folder) { name, kind in
      names.append(name)
      kinds.append(kind)
      return kinds.count <= most
    }
    if kinds.count > most { throw .tooBig }
    let order = names.ordered()
    self.names = order.map { names.picked($0) } ?? names
    self.kinds = order.map { $0.map { kinds[Int($0)] } } ?? kinds
  }

  var count: Int { kinds.count }

  func kind(_ place: Int) -> FolderEntries.Kind { kinds[place] }

  func places(from beginning: [UInt8]) -> Range<Int> {
    if beginning.isEmpty { return 0..<count }
    return beginning.withUnsafeBytes { wanted in
      let start = firstPlace { ByteOrder($0, wanted) != .before }
      let end = firstPlace { ByteOrder($0.part(0, min($0.count, wanted.count)), wanted) == .behind }
      return start..<end
    }
  }

  /// Binary search: `isSo` is true from some index on.
  private func firstPlace(where isSo: (UnsafeRawBufferPointer) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if names.with(middle, isSo) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

/// A cache of folder listings. A folder's times change with every added or removed name, so its
/// stamp identifies its content: thousands of tasks with patterns in one folder list it once.
package final class FolderMemory {
  private var known: [FileIdentity: (stamp: FileStamp, listing: FolderListing)] = [:]
  private var entryCount = 0
  private let network: NetworkFiles

  /// An entry takes nine bytes plus its name.
  private static let mostEntries = 250_000

  /// Folders on network file systems are not cached.
  package init(network: NetworkFiles = NetworkFiles()) { self.network = network }

  /// `folder` is zero-terminated; follows links. Throws `tooBig` for more than `most` entries.
  func listing(of folder: [UInt8], most: Int) throws(Errno) -> FolderListing {
    let status = try Path.status(ofBytes: folder)
    if network.have(
      device: status.identity.device, path: { DeclaringTask.readable(folder.dropLast()) })
    {
      return try FolderListing(folder, most)
    }
    let stamp = FileStamp(status)
    if let (seen, listing) = known[status.identity], seen == stamp { return listing }
    let now = Clock.wallMilliseconds * 1_000_000
    let listing = try FolderListing(folder, most)
    if stamp.isTelling(atNanoseconds: now), try FileStamp(Path.status(ofBytes: folder)) == stamp {
      keep(listing, status.identity, stamp)
    }
    return listing
  }

  private func keep(_ listing: FolderListing, _ folder: FileIdentity, _ stamp: FileStamp) {
    let count = listing.count + 1
    if count > Self.mostEntries { return }
    if entryCount + count > Self.mostEntries {
      known.removeAll()
      entryCount = 0
    }
    if let old = known[folder] { entryCount -= old.listing.count + 1 }
    known[folder] = (stamp, listing)
    entryCount += count
  }
}
