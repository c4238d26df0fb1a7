/// The file names that matched patterns of a manifest, to compile it the same way again. Each is
/// stored like a copy of a file.
final class PatternNames: @unchecked Sendable {
  // SAFETY: @unchecked, because one thread compiles the manifest, and this is read only afterwards.

  private(set) var all: [(path: String, bytes: [UInt8])] = []

  func add(_ path: String, _ bytes: [UInt8]) { all.append((path, bytes)) }

  /// Cannot be a real path.
  static func path(_ pattern: String, in folder: String) -> String {
    "//names/\(folder)//\(pattern)"
  }

  static func bytes(_ names: [String]) -> [UInt8] {
    Array(names.joined(separator: "\0").utf8)
  }

  static func names(in bytes: [UInt8]) -> [String] {
    bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }
}
