internal import Glibc

/// A flock(2) lock. It belongs to the open file: programs that inherit the descriptor hold it too.
package struct FileLock: ~Copyable, Sendable {
  package enum Mode: Sendable {
    case shared, exclusive
  }

  /// The holder may write a note into it.
  package let file: Descriptor

  /// Returns nil if another lock conflicts.
  package static func tryLock(_ path: String, _ mode: Mode) throws(Errno) -> FileLock? {
    let file = try File.openRegular(path, [.readWrite, .create], mode: 0o600)
    let descriptor = file.rawValue
    do throws(Errno) {
      try call { flock(descriptor, mode.operation | LOCK_NB) }
    } catch .wouldBlock {
      return nil
    }
    return FileLock(file: file)
  }

  /// Whether the file is locked exclusively. The test takes a shared lock for a moment, during
  /// which exclusive locking fails.
  package static func isHeld(_ path: String) throws(Errno) -> Bool {
    do throws(Errno) {
      let file = try File.openRegular(path, .readOnly)
      let descriptor = file.rawValue
      try call { flock(descriptor, LOCK_SH | LOCK_NB) }
      return false
    } catch .noSuchFile {
      return false
    } catch .wouldBlock {
      return true
    }
  }

  /// Blocks while the file is locked exclusively, and does not keep the lock.
  package static func waitUntilFree(_ path: String) throws(Errno) {
    do throws(Errno) {
      let file = try File.openRegular(path, .readOnly)
      let descriptor = file.rawValue
      try call { flock(descriptor, LOCK_SH) }
    } catch .noSuchFile {
      return
    }
  }

  package static func lock(_ path: String, _ mode: Mode) throws(Errno) -> FileLock {
    let file = try File.openRegular(path, [.readWrite, .create], mode: 0o600)
    let descriptor = file.rawValue
    try call { flock(descriptor, mode.operation) }
    return FileLock(file: file)
  }
}

extension Descriptor {
  /// Locks exclusively until the file is closed; returns false if another lock conflicts.
  package borrowing func tryLock() throws(Errno) -> Bool {
    let descriptor = rawValue
    do throws(Errno) {
      try call { flock(descriptor, LOCK_EX | LOCK_NB) }
      return true
    } catch .wouldBlock {
      return false
    }
  }
}

extension Descriptor {
  package borrowing func lock() throws(Errno) {
    let descriptor = rawValue
    try call { flock(descriptor, LOCK_EX) }
  }

  package borrowing func unlock() {
    // Closing the file releases it at the latest.
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
