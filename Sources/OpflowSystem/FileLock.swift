internal import Glibc

/// A lock on a file that the kernel gives up when its holder is gone (flock(2)). It belongs to the
/// open file: programs that inherit the descriptor hold it too.
package struct FileLock: ~Copyable, Sendable {
  package enum Mode: Sendable {
    case shared, exclusive
  }

  /// The locked file, for a note about who holds it.
  package let file: Descriptor

  /// Takes the lock on the file at `path`, which is created where it is missing. Returns nil when
  /// somebody else's lock is in the way.
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

  /// Whether somebody holds the lock on the file at `path` for himself alone. Changes nothing: it
  /// looks through a shared lock of an instant, during which nobody else can take the lock alone.
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

  /// Waits until nobody holds the lock on the file at `path` for himself alone; nor does this process
  /// then. A file that is not there is free.
  package static func waitUntilFree(_ path: String) throws(Errno) {
    do throws(Errno) {
      let file = try File.openRegular(path, .readOnly)
      let descriptor = file.rawValue
      try call { flock(descriptor, LOCK_SH) }
    } catch .noSuchFile {
      return
    }
  }

  /// Takes the lock, waiting for others to give theirs up.
  package static func lock(_ path: String, _ mode: Mode) throws(Errno) -> FileLock {
    let file = try File.openRegular(path, [.readWrite, .create], mode: 0o600)
    let descriptor = file.rawValue
    try call { flock(descriptor, mode.operation) }
    return FileLock(file: file)
  }
}

extension Descriptor {
  /// Takes the exclusive lock on an open file; it lasts until the file is closed. False when
  /// somebody else's is in the way.
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
  /// Takes the exclusive lock on an open file, waiting for others to give theirs up.
  package borrowing func lock() throws(Errno) {
    let descriptor = rawValue
    try call { flock(descriptor, LOCK_EX) }
  }

  package borrowing func unlock() {
    // It goes with the open file at the latest.
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
