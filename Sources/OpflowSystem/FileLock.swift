internal import CLinux
internal import Glibc

/// A flock(2) lock. It belongs to the open file: programs that inherit the descriptor hold it too.
package struct FileLock: ~Copyable, Sendable {
  package enum Mode: Sendable {
    case shared, exclusive
  }

  package let file: Descriptor

  /// nil if another lock conflicts.
  package static func tryLock(_ path: String, _ mode: Mode) throws(Errno) -> FileLock? {
    let file = try File.openRegular(path, [.readWrite, .create])
    return try file.tryLock(mode) ? FileLock(file: file) : nil
  }

  /// True if the file is locked exclusively. The test takes a shared lock for a moment, during
  /// which exclusive locking fails.
  package static func isHeld(_ path: String) throws(Errno) -> Bool {
    do throws(Errno) {
      return try !File.openRegular(path, .readOnly).tryLock(.shared)
    } catch .noSuchFile {
      return false
    }
  }

  /// Blocks while the file is locked exclusively.
  package static func waitUntilFree(_ path: String) throws(Errno) {
    do throws(Errno) {
      try File.openRegular(path, .readOnly).lock(.shared)
    } catch .noSuchFile {
      return
    }
  }

  package static func lock(_ path: String, _ mode: Mode) throws(Errno) -> FileLock {
    let file = try File.openRegular(path, [.readWrite, .create])
    try file.lock(mode)
    return FileLock(file: file)
  }
}

extension Descriptor {
  /// Locks until the file is closed; false if another lock conflicts.
  package borrowing func tryLock(_ mode: FileLock.Mode = .exclusive) throws(Errno) -> Bool {
    do throws(Errno) {
      try call { flock(rawValue, mode.operation | LOCK_NB) }
      return true
    } catch .wouldBlock {
      return false
    }
  }

  package borrowing func lock(_ mode: FileLock.Mode = .exclusive) throws(Errno) {
    try call { flock(rawValue, mode.operation) }
  }

  package borrowing func unlock() {
    // Closing the file releases the lock at the latest.
    _ = flock(rawValue, LOCK_UN)
  }
}

extension FileLock.Mode {
  fileprivate var operation: Int32 {
    switch self {
    case .shared: LOCK_SH
    case .exclusive: LOCK_EX
    }
  }
}

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

  /// False if another open file holds the lock.
  package borrowing func take(_ place: Int64) throws(Errno) -> Bool {
    do throws(Errno) {
      try call { clinux_lock_byte(file.rawValue, place) }
      return true
    } catch .wouldBlock {
      return false
    }
  }

  package borrowing func give(_ place: Int64) throws(Errno) {
    try call { clinux_unlock_byte(file.rawValue, place) }
  }

  package borrowing func isTaken(_ place: Int64) throws(Errno) -> Bool {
    return try call { clinux_byte_is_locked(file.rawValue, place) } == 1
  }

  package borrowing func isAnyTaken() throws(Errno) -> Bool {
    return try call { clinux_any_byte_is_locked(file.rawValue) } == 1
  }
}

/// A shared lock (fcntl_locking(2), "Open file description locks"), tested without taking it.
package struct SharedLock: ~Copyable {
  private let file: Descriptor
  private let fork: ForkGuard

  /// Forked children do not hold the lock.
  package init(_ path: String) throws(Errno) {
    let file = try File.openRegular(path, [.readWrite, .create], mode: 0o600).aboveStandard()
    try call { clinux_share_lock(file.rawValue) }
    fork = ForkGuard(file.rawValue)
    self.file = file
  }

  package static func isHeld(_ path: String) throws(Errno) -> Bool {
    do throws(Errno) {
      let file = try File.openRegular(path, .readOnly)
      return try call { clinux_is_lock_shared(file.rawValue) } == 1
    } catch .noSuchFile {
      return false
    }
  }
}
