package import OpflowSystem

/// Reads a task's log as it grows; silent tasks have none. No descriptor stays open, so that a view
/// can follow any number of logs.
package struct LogTail: Sendable {
  package let path: String
  private var offset: Int64 = 0

  package init(path: String) { self.path = path }

  /// Pieces of at most `buffer`'s size. Returns whether there was new output.
  @discardableResult
  package mutating func read(
    into buffer: UnsafeMutableRawBufferPointer, limit: Int = .max,
    _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(Errno) -> Bool {
    let file: Descriptor
    do throws(Errno) {
      file = try File.openRegular(path, .readOnly)
    } catch .noSuchFile {
      return false
    }
    var pieces = 0
    while pieces < limit {
      let count = try file.read(into: buffer, at: offset)
      if count == 0 { break }
      offset += Int64(count)
      pieces += 1
      body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
    return pieces > 0
  }
}
