internal import OpflowSystem

/// Resolves paths like the kernel (path_resolution(7)) and collects the links on the way. Its cache
/// is valid only for a moment, since a link may replace a folder.
final class LinkWalk {
  struct Found {
    /// A link and the links behind it, up to the next name of the path.
    struct Link {
      /// The path's length up to and including the link.
      let end: Int
      var texts: [[UInt8]]
      /// Empty if not requested.
      var stamps: [FileStamp] = []
    }

    var links: [Link] = []
    /// Absolute, without links, as far as resolved.
    var real: [UInt8]
    var end = End.missing
    /// Where names from link texts were looked up.
    var folders: [[UInt8]] = []
  }

  enum End {
    case there(FileStatus)
    /// A missing target, or a loop of links.
    case dangling
    /// A name of the path itself.
    case missing
    case failure(Errno)
  }

  private struct Folder {
    let real: [UInt8]
    let hasLinks: Bool
  }

  init() {}

  private static let slash = UInt8(ascii: "/")
  private static let dot = UInt8(ascii: ".")
  /// The kernel's limit for one path.
  private static let mostLinks = 40

  /// Keys: base folder, a zero, path.
  private var folders: [[UInt8]: Folder] = [:]
  /// Successive links are usually in one folder and lead to one other.
  private var last: Recent?
  private var lastButOne: Recent?
  /// A buffer that all system calls share.
  private var place: [UInt8] = []

  private struct Recent {
    let start: [UInt8]
    let path: [UInt8]
    let folder: Folder

    func isOf(_ path: some RandomAccessCollection<UInt8>, from start: [UInt8]) -> Bool {
      self.path.count == path.count && self.start.count == start.count
        && self.path.elementsEqual(path) && self.start == start
    }
  }

  func forget() {
    folders.removeAll(keepingCapacity: true)
    (last, lastButOne) = (nil, nil)
  }

  /// True without links before the last name; links on the way to `start` do not count.
  func isPlain(_ path: UnsafeRawBufferPointer, from start: [UInt8]) -> Bool {
    guard let cut = path.lastIndex(of: Self.slash) else { return !Self.isOdd(path) }
    let name = UnsafeRawBufferPointer(rebasing: path[(cut + 1)...])
    let folder = UnsafeRawBufferPointer(rebasing: path[..<max(cut, 1)])
    return !Self.isOdd(name) && self.folder(folder, from: start)?.hasLinks == false
  }

  /// Includes the folder itself. False if it cannot be reached.
  func hasLinks(toFolder path: [UInt8], from start: [UInt8]) -> Bool {
    folder(path, from: start)?.hasLinks ?? false
  }

  /// True for `.`, `..` and the empty name.
  private static func isOdd(_ name: some Collection<UInt8>) -> Bool {
    name.count <= 2 && name.allSatisfy { $0 == dot }
  }

  /// nil if it cannot be reached.
  private func folder(_ path: some RandomAccessCollection<UInt8>, from start: [UInt8]) -> Folder? {
    if let last, last.isOf(path, from: start) { return last.folder }
    if let lastButOne, lastButOne.isOf(path, from: start) { return lastButOne.folder }
    let key = start + [0] + path
    guard let folder = folders[key] ?? Self.look(at: path, from: start) else { return nil }
    folders[key] = folder
    (last, lastButOne) = (Recent(start: start, path: Array(path), folder: folder), last)
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

  private static func real(_ start: [UInt8]) -> [UInt8] {
    if Path.isFolderWithoutLinks(ofBytes: start + [0]) { return tidied(start) }
    return walk(start, from: []).real
  }

  /// Removes `.`, `..` and a trailing slash. Empty for the root.
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

  /// `folder` has no links. `count` is the length of the path under which the link is known.
  func follow(_ name: some Collection<UInt8>, count: Int, in folder: [UInt8]) -> Found {
    do throws(Errno) {
      setPlace(folder, name)
      let text = try Path.linkBytes(ofBytes: place)
      let cut = text.lastIndex(of: Self.slash).map { $0 + 1 } ?? 0
      if !Self.isOdd(text[cut...]),
        let target = cut == 0
          ? Folder(real: folder, hasLinks: false)
          : self.folder(text[..<max(cut - 1, 1)], from: folder), !target.hasLinks
      {
        setPlace(target.real, text[cut...])
        let status = try Path.linkStatus(ofBytes: place, from: File.workingFolder)
        if status.kind != .link {
          return Found(
            links: [Found.Link(end: count, texts: [text])],
            real: Array(place[..<(place.count - 1)]), end: .there(status), folders: [target.real])
        }
      }
    } catch {
      // The full walk finds the failing name.
    }
    var found = Self.walk(name, from: folder)
    found.links = found.links.map { Found.Link(end: count, texts: $0.texts, stamps: $0.stamps) }
    return found
  }

  private func setPlace(_ folder: [UInt8], _ name: some Collection<UInt8>) {
    place.removeAll(keepingCapacity: true)
    place += folder
    place.append(Self.slash)
    place += name
    place.append(0)
  }

  /// Links on the way to `start`, the base, do not count.
  static func found(at path: some Collection<UInt8>, from start: [UInt8]) -> Found {
    walk(path, from: path.first == slash ? [] : real(start))
  }

  /// The parent of a plain path whose last name is not `.`, `..` or empty.
  func parent(of path: some RandomAccessCollection<UInt8>, from start: [UInt8]) -> [UInt8] {
    guard let cut = path.lastIndex(of: Self.slash) else {
      return folder([Self.dot], from: start)?.real ?? start
    }
    let end = cut == path.startIndex ? path.index(after: cut) : cut
    return folder(path[..<end], from: start)?.real ?? start
  }

  private struct Name {
    let bytes: ArraySlice<UInt8>
    /// The path's length up to the name; nil for a name from a link's text.
    let end: Int?
  }

  /// `folder` is the base, without links.
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
        if let end = name.end { found.links.append(Found.Link(end: end, texts: [])) }
        found.links[found.links.count - 1].texts.append(text)
        found.links[found.links.count - 1].stamps.append(FileStamp(now))
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

  /// Pushes in reverse. A trailing slash requires a folder, like `.`.
  private static func push(_ path: [UInt8], isOfPath: Bool, _ names: inout [Name]) {
    let start = names.count
    for name in path.split(separator: slash) {
      names.append(Name(bytes: name, end: isOfPath ? name.endIndex : nil))
    }
    if path.last == slash { names.append(Name(bytes: [dot], end: isOfPath ? path.count : nil)) }
    names[start...].reverse()
  }
}
