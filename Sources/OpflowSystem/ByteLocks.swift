internal import CLinux

/// Locks on single bytes of a file, existing or not (fcntl(2), "Open file description locks"),
/// released when the open file is closed.
package struct ByteLocks: ~Copyable, Sendable {
  private let file: Descriptor

  package init(_ path: String) throws(Errno) {
    file = try File.openRegular(path, [.readWrite, .create])
  }

  /// The descriptor through which a started program takes locks that its parent opened.
  package static let shared: Int32 = 3

  /// Uses the descriptor `shared` if it is the file at `path`. Its locks last until the process
  /// that opened it has closed it too.
  package init(sharing path: String) throws(Errno) {
    let opened = try File.openRegular(path, [.readWrite, .create])
    // Not through `call`: the number may not be open.
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

  /// Returns false if another open file holds the lock.
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
