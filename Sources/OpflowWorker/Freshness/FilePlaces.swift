internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem

/// Finds the files that paths and patterns name, and the links on the way to them.
struct FilePlaces {
  /// Known only if finding the path required a stat.
  struct Status {
    let stamp: FileStamp
    let kind: SeenFile.Kind
    let isOfTarget: Bool
  }

  private let folder: String
  private let start: [UInt8]
  private let hashes: FileMemory
  private let follows: Bool
  private let leftOut: LeftOut
  private let written: FileNames.WrittenName

  private(set) var paths = ByteStrings()
  /// An index into `statuses` for each path; may be shorter than `paths`.
  private var statusOf: [Int32] = []
  private var statuses: [Status] = []
  /// The folders that the current input has entered.
  private var entered: Set<FileIdentity> = []

  private var linkPaths = ByteStrings()
  private var linkContents: [PlanKey] = []
  /// Without the texts of links behind it.
  private var linkTexts = ByteStrings()
  /// The latest of the link and the links behind it; nil if not requested.
  private var linkStamps: [FileStamp?] = []
  /// Real folders in which the targets of links may change.
  private(set) var targetFolders: Set<[UInt8]> = []
  private var lastTargetFolders: [[UInt8]] = []

  /// Named paths; `unmatched` are patterns without matches.
  private(set) var missing: [String] = []
  private(set) var unmatched: [String] = []
  /// Links that a pattern does not enter, and the pattern that would.
  private(set) var unentered: [(pattern: String, link: String, instead: String)] = []

  private static let slash = UInt8(ascii: "/")
  private static let mostEntries = 4_000_000

  /// `folder` is the base of relative paths. `written`: when a file counts whose name is the
  /// pattern's text.
  init(
    _ items: [FileScan.Item], in folder: String, _ hashes: FileMemory, _ links: FileScan.Links,
    _ written: FileNames.WrittenName
  ) throws(ScanFault) {
    self.folder = folder
    self.written = written
    start = Array(folder.utf8)
    self.hashes = hashes
    hashes.prepareLinks()
    switch links {
    case .themselves: (follows, leftOut) = (false, .nothing)
    case .followed(let project, let leftOut):
      (follows, self.leftOut) = (true, leftOut)
      if !items.isEmpty, folder != project { noteLinks(toFolderFrom: project) }
    }
    for item in items {
      entered.removeAll(keepingCapacity: true)
      switch item {
      case .glob(let pattern): try find(pattern)
      case .path(let path): try add(Array(path.utf8))
      }
    }
    sortLinks()
    // Another item enters these.
    unentered = unentered.filter {
      text(ofLink: Array($0.link.utf8)) == nil && !items.contains(.glob($0.instead))
    }
    guard let order = paths.ordered() else { return }
    paths = paths.picked(order)
    if !statusOf.isEmpty { statusOf = order.map { number(of: Int($0)) } }
  }

  func status(of place: Int) -> Status? {
    let number = number(of: place)
    return number < 0 ? nil : statuses[Int(number)]
  }

  private func number(of place: Int) -> Int32 { place < statusOf.count ? statusOf[place] : -1 }

  private func absolute(_ path: [UInt8]) -> [UInt8] {
    DeclaringTask.absolute(path, in: folder) + [0]
  }

  // MARK: - Patterns

  private mutating func find(_ pattern: String) throws(ScanFault) {
    let found: FileNames.Found
    switch FileNames.all(
      fitting: pattern, in: folder, folders: hashes.folders, written: written, links: hashes.links)
    {
    case .failure(let fault): throw ScanFault(detail: "`\(pattern)`: \(fault.text)")
    case .success(let names): found = names
    }
    let names = found.names
    let before = paths.count
    let fitsFolders = pattern.utf8.last == Self.slash
    // Usually all names count, and no other input comes before.
    let first = (0..<names.count).first { names.with($0, leftOut.listed) } ?? names.count
    var isMatched = first > 0
    if !fitsFolders, before == 0, first == names.count {
      paths = names
    } else {
      for place in 0..<names.count where place < first || !names.with(place, leftOut.listed) {
        isMatched = true
        if fitsFolders {
          try add(names[place])
        } else {
          names.with(place) { paths.append($0) }
        }
      }
    }
    for place in 0..<found.linked.count where !found.linked.with(place, leftOut.path) {
      isMatched = true
      // Usually a link itself; `add` notices if not.
      try add(found.linked[place], .link)
    }
    if !isMatched { unmatched.append(pattern) }
    unentered += found.unentered.map { (pattern, $0.link, $0.pattern) }
  }

  // MARK: - Paths

  private struct Folder {
    let path: [UInt8]
    /// nil without links.
    let real: [UInt8]?
  }

  private struct Entry {
    let path: [UInt8]
    let kind: FolderEntries.Kind
    /// The real path of its folder.
    let real: [UInt8]?
  }

  /// A folder is added with its contents.
  private mutating func add(
    _ path: [UInt8], _ kind: FolderEntries.Kind = .unknown
  ) throws(ScanFault) {
    // Usually the path is not a folder.
    guard let folder = try addNamed(path, kind) else { return }
    var open = try entries(of: folder)
    while let entry = open.popLast() {
      if entry.kind == .file, entry.real == nil {
        entry.path.withUnsafeBytes { if !leftOut.listed($0) { paths.append($0) } }
      } else if let folder = try add(entry) {
        open += try entries(of: folder)
      }
    }
  }

  private mutating func addNamed(
    _ path: [UInt8], _ kind: FolderEntries.Kind
  ) throws(ScanFault) -> Folder? {
    let isPlain = path.withUnsafeBytes { bytes -> Bool? in
      if leftOut.path(bytes) { return nil }
      return !follows || hashes.links.isPlain(bytes, from: start)
    }
    guard let isPlain else { return nil }
    if isPlain { return try addItself(Entry(path: path, kind: kind, real: nil)) }
    return try add(LinkWalk.found(at: path, from: start), path, isLink: nil)
  }

  private mutating func add(_ entry: Entry) throws(ScanFault) -> Folder? {
    let isListed = entry.real == nil
    let isLeftOut = entry.path.withUnsafeBytes { isListed ? leftOut.listed($0) : leftOut.path($0) }
    return isLeftOut ? nil : try addItself(entry)
  }

  /// Returns the folder to enter.
  private mutating func addItself(_ entry: Entry) throws(ScanFault) -> Folder? {
    if entry.kind == .link, follows { return try addLink(entry) }
    let status: FileStatus
    do throws(Errno) {
      status = try entry.path.withUnsafeBytes { hashes.linkStatus($0, from: folder) }.get()
    } catch {
      try note(error, at: entry.path)
      return nil
    }
    if status.kind == .link, follows { return try addLink(entry) }
    let real = entry.real.map { $0 + [Self.slash] + Self.name(entry.path) }
    if let real, leftOut.target(real, status) { return nil }
    add(entry.path, status)
    guard status.kind == .directory else { return nil }
    if follows, !entered.insert(status.identity).inserted { return nil }
    return Folder(path: entry.path, real: real)
  }

  private static func name(_ path: [UInt8]) -> ArraySlice<UInt8> {
    path[(path.lastIndex(of: slash).map { $0 + 1 } ?? 0)...]
  }

  private mutating func add(_ path: [UInt8], _ status: FileStatus, isOfTarget: Bool = false) {
    note(Status(stamp: FileStamp(status), kind: SeenFile.Kind(status), isOfTarget: isOfTarget))
    path.withUnsafeBytes { paths.append($0) }
  }

  /// For the next path.
  private mutating func note(_ status: Status) {
    while statusOf.count < paths.count { statusOf.append(-1) }
    statusOf.append(Int32(statuses.count))
    statuses.append(status)
  }

  /// In reverse order.
  private mutating func entries(of folder: Folder) throws(ScanFault) -> [Entry] {
    var entries: [Entry] = []
    let path = folder.path
    do throws(Errno) {
      let inside = path.last == Self.slash ? path : path + [Self.slash]
      let listing = try hashes.folders.listing(of: absolute(path), most: Self.mostEntries)
      for place in (0..<listing.count).reversed() {
        entries.append(
          Entry(
            path: listing.names.with(place) { inside + $0 }, kind: listing.kind(place),
            real: folder.real))
      }
    } catch {
      if let real = folder.real { throw Self.fault(error, path, leadsTo: real) }
      try note(error, at: path)
    }
    return entries
  }

  private mutating func note(_ error: Errno, at path: [UInt8]) throws(ScanFault) {
    let name = NameCharacters.text(path)
    guard error == .noSuchFile || error == .notADirectory else {
      throw ScanFault(detail: "cannot check `\(name)`: \(error)")
    }
    missing.append(name)
  }

  private static func fault(_ error: Errno, _ path: [UInt8], leadsTo real: [UInt8]) -> ScanFault {
    let (name, target) = (NameCharacters.text(path), NameCharacters.text(real))
    return ScanFault(detail: "cannot read `\(name)`, which leads to `\(target)`: \(error)")
  }

  // MARK: - Links

  private mutating func addLink(_ entry: Entry) throws(ScanFault) -> Folder? {
    let name = Self.name(entry.path)
    let real = entry.real ?? hashes.links.parent(of: entry.path, from: start)
    let found = hashes.links.follow(name, count: entry.path.count, in: real)
    return try add(found, entry.path, isLink: true)
  }

  /// `isLink`: the path itself is a link; nil if unknown.
  private mutating func add(
    _ found: LinkWalk.Found, _ path: [UInt8], isLink: Bool?
  ) throws(ScanFault) -> Folder? {
    let isLink = isLink ?? (found.links.last.map { $0.end >= path.count } ?? false)
    switch found.end {
    case .missing: missing.append(NameCharacters.text(path))
    case .failure(let error): throw Self.fault(error, path, leadsTo: found.real)
    case .dangling:
      if leftOut.target(found.real, nil) {
        note(found, path, isAlone: true)
      } else {
        note(found, path)
        let none = FileStamp(device: 0, inode: 0, sizeBytes: 0, modified: 0, changed: 0)
        note(Status(stamp: none, kind: .absent, isOfTarget: true))
        path.withUnsafeBytes { paths.append($0) }
      }
    case .there(let status):
      let isLinked = !found.links.isEmpty
      if isLinked, leftOut.target(found.real, status) {
        note(found, path, isAlone: true)
        return nil
      }
      note(found, path)
      guard status.kind == .directory else {
        add(path, status, isOfTarget: isLink)
        return nil
      }
      let isNew = entered.insert(status.identity).inserted
      if isLink, !isNew { return nil }
      add(path, status, isOfTarget: isLink)
      return isNew ? Folder(path: path, real: isLinked ? found.real : nil) : nil
    }
    return nil
  }

  /// `isAlone`: only the last link's own text counts.
  private mutating func note(_ found: LinkWalk.Found, _ path: [UInt8], isAlone: Bool = false) {
    // Successive links usually lead to one folder.
    if found.folders != lastTargetFolders {
      targetFolders.formUnion(found.folders)
      lastTargetFolders = found.folders
    }
    for (place, link) in found.links.enumerated() {
      let isLast = place == found.links.count - 1
      let count = isLast && isAlone ? 1 : link.texts.count
      path.withUnsafeBytes { linkPaths.append($0.part(0, link.end)) }
      note(link.texts.prefix(count), link.stamps.prefix(count))
    }
  }

  private mutating func note(_ texts: ArraySlice<[UInt8]>, _ stamps: some Sequence<FileStamp>) {
    guard let first = texts.first else { return }
    // A replaced link gets a later time than any of these.
    linkStamps.append(stamps.max { $0.changed < $1.changed })
    linkContents.append(
      hashes.hash.of(texts.count == 1 ? first : Array(texts.joined(separator: [0]))))
    first.withUnsafeBytes { linkTexts.append($0) }
  }

  /// Adds the links on the way to the base folder, below the project's folder.
  private mutating func noteLinks(toFolderFrom project: String) {
    let isInside = folder.hasPrefix(project + "/")
    let path = Array(isInside ? folder.utf8.dropFirst(project.utf8.count + 1) : folder.utf8[...])
    let home = Array(project.utf8)
    guard hashes.links.hasLinks(toFolder: path, from: home) else { return }
    let found = LinkWalk.found(at: path, from: home)
    linkPaths.append(".")
    note(found.links.flatMap(\.texts)[...], found.links.lazy.flatMap(\.stamps))
    targetFolders.formUnion(found.folders)
  }

  private mutating func sortLinks() {
    guard let order = linkPaths.ordered() else { return }
    linkPaths = linkPaths.picked(order)
    linkTexts = linkTexts.picked(order)
    linkContents = order.map { linkContents[Int($0)] }
    linkStamps = order.map { linkStamps[Int($0)] }
  }

  var links: SeenFiles {
    if linkContents.isEmpty { return [] }
    var states = SeenStates()
    for content in linkContents { states.append(.link, content, nil) }
    return SeenFiles(linkPaths, states)
  }

  /// The links with stamps, which show whether a link is replaced.
  var stampedLinks: SeenFiles {
    var states = SeenStates()
    for place in linkContents.indices {
      states.append(.link, linkContents[place], stamp(ofLink: place))
    }
    return SeenFiles(linkPaths, states)
  }

  /// nil also on a network file system, where inode numbers differ between machines.
  private func stamp(ofLink place: Int) -> FileStamp? {
    let path = absolute(linkPaths[place])
    let stamp =
      linkStamps[place]
      ?? (try? Path.linkStatus(ofBytes: path, from: File.workingFolder)).map { FileStamp($0) }
    guard let stamp else { return nil }
    let isOnNetwork = hashes.network.have(device: stamp.device) {
      DeclaringTask.readable(Array(path.dropLast()))
    }
    return isOnNetwork ? nil : stamp
  }

  /// nil if the path is not a link.
  func text(ofLink path: [UInt8]) -> [UInt8]? {
    var (low, high) = (0, linkPaths.count)
    while low < high {
      let middle = (low + high) / 2
      let order = path.withUnsafeBytes { path in
        linkPaths.with(middle) { ByteOrder($0, path) }
      }
      switch order {
      case .same: return linkTexts[middle]
      case .before: low = middle + 1
      case .behind: high = middle
      }
    }
    return nil
  }

  func isLinked(_ path: [UInt8]) -> Bool {
    (0..<linkPaths.count).contains { place in
      let link = linkPaths[place]
      return path.starts(with: link) && (path.count == link.count || path[link.count] == Self.slash)
    }
  }
}
