internal import OpflowSystem

/// Copies of the files that a run's manifest names, in one file: for the record, and for a resume
/// that finds one missing.
///
/// The hashes in the journal say which contents belong to the last session. Before a resume
/// switches to other contents, it adds them here, and the old manifest too before `manifest.yaml`
/// is replaced. So after a crash all contents that the journal names exist. The next resume that
/// writes this file drops contents of neither session.
///
/// Format, for each file: the byte count of its path and of its contents, in decimal, separated by
/// a space and ended by a newline; the path; a newline; the contents; a newline. Paths below the
/// manifest's folder are relative to it, so that a moved project finds its copies.
struct KeptFiles: Sendable {
  private(set) var files: [(path: String, bytes: [UInt8])] = []
  /// Indexes by path.
  private var places: [String: [Int]] = [:]

  init() {}

  /// Unless the same path and contents are present.
  mutating func add(_ file: (path: String, bytes: [UInt8])) {
    if let places = places[file.path], places.contains(where: { files[$0].bytes == file.bytes }) {
      return
    }
    places[file.path, default: []].append(files.count)
    files.append(file)
  }

  mutating func add(_ path: String, _ bytes: [UInt8], from folder: String) {
    add((Self.relative(path, to: folder), bytes))
  }

  /// `path` is absolute; the first copy if there are several.
  func bytes(of path: String, from folder: String) -> [UInt8]? {
    let path = Self.relative(path, to: folder)
    // Unicode equivalence makes equal strings of different file names.
    let place = places[path]?.first { files[$0].path.utf8.elementsEqual(path.utf8) }
    return place.map { files[$0].bytes }
  }

  static func relative(_ path: String, to folder: String) -> String {
    let start = folder.hasSuffix("/") ? folder : folder + "/"
    return path.hasPrefix(start) ? String(path.dropFirst(start.count)) : path
  }

  var named: [WrittenSecrets.Copy] { files.map { ($0.path, $0.bytes) } }

  // MARK: The file

  var text: [UInt8] {
    var text: [UInt8] = []
    for (path, bytes) in files {
      text += Array("\(path.utf8.count) \(bytes.count)\n".utf8)
      text += Array(path.utf8)
      text.append(10)
      text += bytes
      text.append(10)
    }
    return text
  }

  /// The most that a manifest may name, plus as much of an earlier session.
  static let mostBytes = 4 << 30

  init(at path: String) {
    self.init(reading: (try? File.readRegular(path, atMost: Self.mostBytes)) ?? [])
  }

  init(reading text: [UInt8]) {
    var rest = text[...]
    while let end = rest.firstIndex(of: 10) {
      let head = String(decoding: rest[..<end], as: UTF8.self).split(separator: " ")
      guard head.count == 2, let pathCount = Int(head[0]), let count = Int(head[1]), pathCount > 0,
        count >= 0, pathCount <= rest.count, count <= rest.count - pathCount,
        end + 1 + pathCount + 1 + count + 1 <= rest.endIndex
      else { return }
      let path = end + 1
      let bytes = path + pathCount + 1
      let name = String(decoding: rest[path..<(path + pathCount)], as: UTF8.self)
      add((name, Array(rest[bytes..<(bytes + count)])))
      rest = rest[(bytes + count + 1)...]
    }
  }
}
