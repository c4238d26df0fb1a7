/// The names of files that patterns fitted while a manifest was compiled, so that it can be compiled again as it was.
///
/// Among copies of files each stands as one of its own.
final class PatternNames: @unchecked Sendable {
  // SAFETY: @unchecked, because a manifest is compiled by one thread, and read from here after that.

  private(set) var all: [(path: String, bytes: [UInt8])] = []

  func add(_ path: String, _ bytes: [UInt8]) { all.append((path, bytes)) }

  /// What stands for a path, and is none: nothing else begins so.
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
