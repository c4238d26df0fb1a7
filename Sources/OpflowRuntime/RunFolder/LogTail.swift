package import OpflowSystem

/// Reads a task's log as it grows. The file may not be there yet: a task that printed nothing has
/// none. Holds no descriptor, so that a view can follow as many logs as there are tasks.
package struct LogTail: Sendable {
  package let path: String
  private var offset: Int64 = 0

  package init(path: String) { self.path = path }

  /// Calls `body` with what came since the last call, in pieces of at most `buffer`'s size, until
  /// there is no more or `limit` pieces were told. Whether anything came.
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
