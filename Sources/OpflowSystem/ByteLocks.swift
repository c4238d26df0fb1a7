internal import CLinux

/// Locks on single bytes of a file, which the kernel gives up when the open file is closed (fcntl(2), "Open file
/// description locks"). A byte need not be there to be locked.
package struct ByteLocks: ~Copyable, Sendable {
  private let file: Descriptor

  /// Of the file at `path`, which is created where it is missing.
  package init(_ path: String) throws(Errno) {
    file = try File.openRegular(path, [.readWrite, .create])
  }

  /// Takes a lock; false where another open file has it.
  package borrowing func take(_ place: Int64) throws(Errno) -> Bool {
    let descriptor = file.rawValue
    do throws(Errno) {
      try call { clinux_lock_byte(descriptor, place) }
      return true
    } catch .wouldBlock {
      return false
    }
  }

  package borrowing func give(_ place: Int64) throws(Errno) {
    let descriptor = file.rawValue
    try call { clinux_unlock_byte(descriptor, place) }
  }

  /// Whether another open file has it.
  package borrowing func isTaken(_ place: Int64) throws(Errno) -> Bool {
    let descriptor = file.rawValue
    return try call { clinux_byte_is_locked(descriptor, place) } == 1
  }

  /// Whether another open file has one on any byte.
  package borrowing func isAnyTaken() throws(Errno) -> Bool {
    let descriptor = file.rawValue
    return try call { clinux_any_byte_is_locked(descriptor) } == 1
  }
}
