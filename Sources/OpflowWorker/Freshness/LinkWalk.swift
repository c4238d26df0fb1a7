internal import OpflowSystem

/// Resolves paths name by name, as the kernel does (path_resolution(7)), and keeps the texts of the links on the
/// way.
///
/// What it knows of folders holds for a moment only, since a link may take the place of a folder.
final class LinkWalk {
  /// What a path led to.
  struct Found {
    /// A link at a name of the path, and those behind it up to the next name of the path.
    struct Link {
      /// How much of the path leads to it.
      let end: Int
      var texts: [[UInt8]]
    }

    var links: [Link] = []
    /// As far as the path led: from the root, and without links.
    var real: [UInt8]
    var end = End.missing
    /// Where names of links' texts were looked for.
    var folders: [[UInt8]] = []
  }

  enum End {
    case there(FileStatus)
    /// A link leads to nothing, or in a loop.
    case dangling
    /// A name of the path is missing, whether or not a link is before it.
    case missing
    case failure(Errno)
  }

  /// A folder by its path.
  private struct Folder {
    let real: [UInt8]
    let hasLinks: Bool
  }

  init() {}

  private static let slash = UInt8(ascii: "/")
  private static let dot = UInt8(ascii: ".")
  /// As many links as the kernel follows on the way of one path.
  private static let mostLinks = 40

  /// By their paths: a folder where they start, a zero, and the rest.
  private var folders: [[UInt8]: Folder] = [:]
  /// Mostly many paths in one folder follow each other.
  private var last: (start: [UInt8], path: [UInt8], folder: Folder)?

  /// Forgets what it knows.
  func forget() {
    folders.removeAll(keepingCapacity: true)
    last = nil
  }

  /// Whether no link is on the way to what a path names. Its own name may be one.
  ///
  /// - Parameter start: where a relative path starts; how that is reached does not count.
  func isPlain(_ path: UnsafeRawBufferPointer, from start: [UInt8]) -> Bool {
    guard let cut = path.lastIndex(of: Self.slash) else { return !Self.isOdd(path) }
    let name = UnsafeRawBufferPointer(rebasing: path[(cut + 1)...])
    let folder = UnsafeRawBufferPointer(rebasing: path[..<max(cut, 1)])
    return !Self.isOdd(name) && self.folder(folder, from: start)?.hasLinks == false
  }

  /// Whether a link is on the way to a folder, or at its end. False where no folder can be reached.
  func hasLinks(toFolder path: [UInt8], from start: [UInt8]) -> Bool {
    folder(path, from: start)?.hasLinks ?? false
  }

  /// `.`, `..`, and nothing: what stands before that is the name.
  private static func isOdd(_ name: some Collection<UInt8>) -> Bool {
    name.count <= 2 && name.allSatisfy { $0 == dot }
  }

  /// The folder at a path; nil where none can be reached.
  private func folder(
    _ path: some RandomAccessCollection<UInt8>, from start: [UInt8]
  ) -> Folder? {
    if let last, last.path.count == path.count, last.start.count == start.count,
      last.path.elementsEqual(path), last.start == start
    {
      return last.folder
    }
    let key = start + [0] + path
    guard let folder = folders[key] ?? Self.look(at: path, from: start) else { return nil }
    folders[key] = folder
    last = (start, Array(path), folder)
    return folder
  }

  private static func look(at path: some Collection<UInt8>, from start: [UInt8]) -> Folder? {
    let whole = path.first == slash ? Array(path) : start + [slash] + path
    if Path.isFolderWithoutLinks(ofBytes: whole + [0]) {
      return Folder(real: tidied(whole), hasLinks: false)
    }
    let found = walk(path, from: real(start))
    guard case .there(let status) = found.end, status.kind == .directory else { return nil }
    return Folder(real: found.real, hasLinks: !found.links.isEmpty)
  }

  /// The path of a folder where relative paths start, without links.
  private static func real(_ start: [UInt8]) -> [UInt8] {
    if Path.isFolderWithoutLinks(ofBytes: start + [0]) { return tidied(start) }
    return walk(start, from: []).real
  }

  /// A path that has no links, without `.`, `..` and the slash at its end: nothing for the root.
  private static func tidied(_ path: [UInt8]) -> [UInt8] {
    var real: [UInt8] = []
    for name in path.split(separator: slash) {
      if name.elementsEqual([dot, dot]) {
        removeName(&real)
      } else if !isOdd(name) {
        real.append(slash)
        real += name
      }
    }
    return real
  }

  private static func removeName(_ path: inout [UInt8]) {
    path.removeSubrange((path.lastIndex(of: slash) ?? 0)...)
  }

  // MARK: - Following

  /// Where a link leads.
  ///
  /// - Parameters:
  ///   - count: of the path that it is known by.
  ///   - folder: in which it lies, without links.
  func follow(
    _ name: some Collection<UInt8>, count: Int, in folder: [UInt8]
  ) -> Found {
    do throws(Errno) {
      let text = try Path.linkBytes(ofBytes: folder + [Self.slash] + name + [0])
      let cut = text.lastIndex(of: Self.slash).map { $0 + 1 } ?? 0
      if !Self.isOdd(text[cut...]),
        let target = cut == 0
          ? Folder(real: folder, hasLinks: false)
          : self.folder(text[..<max(cut - 1, 1)], from: folder), !target.hasLinks
      {
        let path = target.real + [Self.slash] + text[cut...]
        let status = try Path.linkStatus(ofBytes: path + [0], from: File.workingFolder)
        if status.kind != .link {
          return Found(
            links: [Found.Link(end: count, texts: [text])], real: path, end: .there(status),
            folders: [target.real])
        }
      }
    } catch {
      // The walk tells where.
    }
    var found = Self.walk(name, from: folder)
    found.links = found.links.map { Found.Link(end: count, texts: $0.texts) }
    return found
  }

  /// Where a path leads.
  ///
  /// - Parameter start: where a relative path starts; how that is reached does not count.
  static func found(at path: some Collection<UInt8>, from start: [UInt8]) -> Found {
    walk(path, from: path.first == slash ? [] : real(start))
  }

  /// The folder that a path which is plain lies in, from the root and without links.
  ///
  /// - Parameter path: without `.`, `..` and nothing as its last name.
  func parent(of path: some RandomAccessCollection<UInt8>, from start: [UInt8]) -> [UInt8] {
    guard let cut = path.lastIndex(of: Self.slash) else {
      return folder([Self.dot], from: start)?.real ?? start
    }
    let end = cut == path.startIndex ? path.index(after: cut) : cut
    return folder(path[..<end], from: start)?.real ?? start
  }

  private struct Name {
    let bytes: ArraySlice<UInt8>
    /// How much of the path leads to it; nil where it is of a link's text.
    let end: Int?
  }

  /// - Parameter folder: where it starts if it is relative, without links.
  private static func walk(_ path: some Collection<UInt8>, from folder: [UInt8]) -> Found {
    let path = Array(path)
    var found = Found(real: path.first == slash ? [] : folder)
    var names: [Name] = []
    push(path, isOfPath: true, &names)
    var status: FileStatus?
    var linkCount = 0
    do throws(Errno) {
      while let name = names.popLast() {
        let fault: End = name.end == nil ? .dangling : .missing
        found.end = fault
        if let status, status.kind != .directory { return found }
        if name.bytes.elementsEqual([dot]) { continue }
        if name.bytes.elementsEqual([dot, dot]) {
          removeName(&found.real)
          status = nil
          continue
        }
        let place = found.real + [slash] + name.bytes
        if name.end == nil { found.folders.append(found.real) }
        let now: FileStatus
        do throws(Errno) {
          now = try Path.linkStatus(ofBytes: place + [0], from: File.workingFolder)
        } catch {
          found.real = place
          if error == .noSuchFile { return found }
          throw error
        }
        guard now.kind == .link else {
          found.real = place
          status = now
          continue
        }
        found.end = .dangling
        linkCount += 1
        if linkCount > mostLinks { return found }
        let text = try Path.linkBytes(ofBytes: place + [0])
        if let end = name.end {
          found.links.append(Found.Link(end: end, texts: [text]))
        } else {
          found.links[found.links.count - 1].texts.append(text)
        }
        if text.first == slash {
          found.real = []
          status = nil
        }
        push(text, isOfPath: false, &names)
      }
      let real = found.real.isEmpty ? [slash] : found.real
      if status == nil {
        status = try Path.linkStatus(ofBytes: real + [0], from: File.workingFolder)
      }
      if let status { found.end = .there(status) }
    } catch {
      found.end = .failure(error)
    }
    return found
  }

  /// The first name comes last. A slash at the end wants a folder, as `.` does.
  private static func push(_ path: [UInt8], isOfPath: Bool, _ names: inout [Name]) {
    let start = names.count
    for name in path.split(separator: slash) {
      names.append(Name(bytes: name, end: isOfPath ? name.endIndex : nil))
    }
    if path.last == slash { names.append(Name(bytes: [dot], end: isOfPath ? path.count : nil)) }
    names[start...].reverse()
  }
}
