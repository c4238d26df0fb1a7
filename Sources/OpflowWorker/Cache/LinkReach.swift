internal import OpflowSystem

/// What the links of a result lead to. A result restores what it keeps, and its key stands for what
/// the task reads. Other files behind a link belong to no result, so that they must be compared.
struct LinkReach {
  enum End {
    /// Kept with the result, or in its key.
    case known
    /// A file, as seen from the manifest's folder.
    case file([UInt8])
    /// What no result can keep.
    case unknown([UInt8])
    /// The manifest's folder does not contain it.
    case outside
  }

  private let folder: String
  /// The files kept, the inputs and the links on the way to them.
  private let known: Set<[UInt8]>

  /// - Parameter known: paths relative to `folder`, the manifest's folder.
  init(folder: String, known: some Sequence<[UInt8]>) {
    self.folder = folder
    self.known = Set(known)
  }

  private static let slash = UInt8(ascii: "/")
  /// The kernel's limit for one path.
  private static let mostLinks = 40

  /// Where the link `path` leads to if no other link is on the way, both relative to the manifest's
  /// `folder`; nil if that is outside of it. `..` is allowed only at the beginning of the target:
  /// after a name that may be a link, its meaning is unknown.
  static func destination(of target: String, at path: [UInt8], folder: String) -> [UInt8]? {
    var names = path.split(separator: slash).dropLast()
    var rest = target.utf8[...]
    if target.utf8.first == slash {
      guard target == folder || target.hasPrefix(folder + "/") else { return nil }
      rest = rest.dropFirst(folder.utf8.count)
      names.removeAll()
    }
    var isBehindName = false
    for name in rest.split(separator: slash) where !name.elementsEqual(".".utf8) {
      if name.elementsEqual("..".utf8) {
        if isBehindName || names.popLast() == nil { return nil }
      } else {
        isBehindName = true
        names.append(Array(name)[...])
      }
    }
    return Array(names.joined(separator: [slash]))
  }

  /// Resolves the link `path`, whose target exists.
  ///
  /// - Parameter project: the manifest's folder.
  func end(
    of target: String, at path: [UInt8], in project: borrowing FolderBeneath
  ) throws(Errno) -> End {
    guard var path = Self.destination(of: target, at: path, folder: folder) else {
      return .outside
    }
    var isWayKnown = true
    for _ in 0..<Self.mostLinks {
      if isWayKnown, known.contains(path) { return .known }
      guard let link = try Self.firstLink(of: path, in: project) else {
        return try end(at: path, isWayKnown, in: project)
      }
      isWayKnown = isWayKnown && known.contains(link)
      guard let text = String(validating: try project.linkTarget(link), as: UTF8.self),
        let next = Self.destination(of: text, at: link, folder: folder)
      else { return .outside }
      path = Array((next + path[link.count...]).drop { $0 == Self.slash })
    }
    return .unknown(path)
  }

  /// The first link in a path, itself included.
  private static func firstLink(
    of path: [UInt8], in project: borrowing FolderBeneath
  ) throws(Errno) -> [UInt8]? {
    var end = 0
    while end < path.count {
      end = path[(end + 1)...].firstIndex(of: slash) ?? path.count
      let part = Array(path[..<end])
      if try project.status(part)?.kind == .link { return part }
    }
    return nil
  }

  private func end(
    at path: [UInt8], _ isWayKnown: Bool, in project: borrowing FolderBeneath
  ) throws(Errno) -> End {
    switch try project.status(path)?.kind {
    case .file: .file(path)
    case .directory where isWayKnown: try isAllKnown(in: path, project) ? .known : .unknown(path)
    default: .unknown(path)
    }
  }

  /// Whether a folder has anything in it, and all of that is known.
  private func isAllKnown(
    in folder: [UInt8], _ project: borrowing FolderBeneath
  ) throws(Errno) -> Bool {
    let names = try project.names(String(decoding: folder, as: UTF8.self))
    for name in names {
      let path = Array((folder + [Self.slash] + name.utf8).drop { $0 == Self.slash })
      if known.contains(path) { continue }
      guard try project.status(path)?.kind == .directory, try isAllKnown(in: path, project) else {
        return false
      }
    }
    return !names.isEmpty
  }
}
