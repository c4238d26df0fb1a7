internal import CLinux

/// Locks on single bytes of a file (fcntl(2), "Open file description locks"). The kernel releases
/// them when the open file is closed. The locked byte need not exist.
package struct ByteLocks: ~Copyable, Sendable {
  private let file: Descriptor

  /// Opens the file at `path`, creating it if missing.
  package init(_ path: String) throws(Errno) {
    file = try File.openRegular(path, [.readWrite, .create])
  }

  /// The descriptor that a program gets from the process that starts it, to take locks through it.
  package static let shared: Int32 = 3

  /// Takes the locks through the descriptor `shared` if that is the file at `path`. Then they are
  /// held until the process that opened it has closed it too.
  package init(sharing path: String) throws(Errno) {
    let opened = try File.openRegular(path, [.readWrite, .create])
    // Not through `call`: nothing may be open there.
    let number = clinux_duplicate(Self.shared, Self.shared + 1)
    if number >= 0 {
      let shared = Descriptor(owning: number)
      if try shared.status().identity == opened.status().identity {
        file = shared
        return
      }
    }
    file = opened
  }

  /// Takes the lock; returns false if another open file holds it.
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

  /// Whether another open file holds the lock.
  package borrowing func isTaken(_ place: Int64) throws(Errno) -> Bool {
    let descriptor = file.rawValue
    return try call { clinux_byte_is_locked(descriptor, place) } == 1
  }

  /// Whether another open file holds a lock on any byte.
  package borrowing func isAnyTaken() throws(Errno) -> Bool {
    let descriptor = file.rawValue
    return try call { clinux_any_byte_is_locked(descriptor) } == 1
  }
}
