package import OpflowSystem

/// Reads a task's log as it grows. The file may not be there yet: a task that printed nothing has
/// none.
package struct LogTail: ~Copyable {
  private let path: String
  private var file: Descriptor?
  private var offset: Int64 = 0

  package init(path: String) { self.path = path }

  /// Calls `body` with all that came since the last call, in pieces. Whether anything did.
  @discardableResult
  package mutating func read(
    into buffer: UnsafeMutableRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(Errno) -> Bool {
    guard try open() else { return false }
    var found = false
    while let count = try next(into: buffer), count > 0 {
      found = true
      body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
    return found
  }

  private mutating func next(
    into buffer: UnsafeMutableRawBufferPointer
  ) throws(Errno) -> Int? {
    guard let count = try file?.read(into: buffer, at: offset) else { return nil }
    offset += Int64(count)
    return count
  }

  private mutating func open() throws(Errno) -> Bool {
    if file != nil { return true }
    do throws(Errno) {
      file = try File.open(path, [.readOnly, .noFollow])
      return true
    } catch .noSuchFile {
      return false
    }
  }
}
