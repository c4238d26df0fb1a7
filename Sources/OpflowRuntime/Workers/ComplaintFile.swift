internal import OpflowSystem

/// The shared standard error file of started processes. Its size at a process's start marks where
/// that process's complaints may begin.
final class ComplaintFile {
  private let path: String
  private let file: Descriptor

  private static let longestTextBytes = 2_000

  init(_ path: String) throws(Errno) {
    self.path = path
    file = try File.openRegular(path, [.readWrite, .create, .append])
  }

  var rawDescriptor: Int32 { file.rawValue }

  func end() throws(Errno) -> Int64 { try file.status().sizeBytes }

  /// Empty if nothing was written since `start`, or it cannot be read.
  func text(from start: Int64) -> String {
    var buffer = [UInt8](repeating: 0, count: Self.longestTextBytes)
    let count = try? buffer.withUnsafeMutableBytes { bytes throws(Errno) in
      try file.read(into: bytes, at: start)
    }
    return String(decoding: buffer.prefix(count ?? 0), as: UTF8.self)
  }

  func cleanUp() {
    // An empty file does no harm.
    if let size = try? end(), size == 0 { try? Path.remove(path) }
  }
}
