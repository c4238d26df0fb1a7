internal import OpflowSystem

/// Copies of the files that a run's manifest names besides itself, in one file of the run's folder: for
/// the record, and for a resume that finds one gone.
///
/// The journal tells by their hashes which texts are those of the last drive. Before a resume makes
/// others the run's, it puts them beside those, and the manifest as it was where that is another now,
/// which takes its place in `manifest.yaml` after that: wherever it is killed, the texts that the
/// journal names are here or there. The next resume that has something to put here leaves out what is of
/// neither drive.
///
/// For each: how many bytes its path has and how many itself, in decimal, with a blank between and a
/// line feed behind; the path; a line feed; its bytes; a line feed. A path within the manifest's folder
/// starts there, so that a project that was moved finds its copies.
struct KeptFiles: Sendable {
  private(set) var files: [(path: String, bytes: [UInt8])] = []
  /// By path: the places of its texts.
  private var places: [String: [Int]] = [:]

  init() {}

  /// Once only, also where it is here already.
  mutating func add(_ file: (path: String, bytes: [UInt8])) {
    if let places = places[file.path], places.contains(where: { files[$0].bytes == file.bytes }) {
      return
    }
    places[file.path, default: []].append(files.count)
    files.append(file)
  }

  /// - Parameter folder: the manifest's.
  mutating func add(_ path: String, _ bytes: [UInt8], from folder: String) {
    add((Self.relative(path, to: folder), bytes))
  }

  /// The copy of a file, by its absolute path; of several texts the first one.
  func bytes(of path: String, from folder: String) -> [UInt8]? {
    let path = Self.relative(path, to: folder)
    // Two names that look alike are equal as strings, and are two files.
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

  /// As many as a manifest may name, beside as many of an earlier drive.
  static let mostBytes = 4 << 30

  /// Of that file; none where it cannot be read.
  init(at path: String) {
    self.init(reading: (try? File.readRegular(path, atMost: Self.mostBytes)) ?? [])
  }

  /// What is not whole is left out.
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
