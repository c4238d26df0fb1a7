internal import CLinux

/// A shared lock on a file (fcntl_locking(2), "Open file description locks"), tested without taking
/// it.
package struct SharedLock: ~Copyable {
  private let file: Descriptor
  private let fork: ForkGuard

  /// Forked children do not hold the lock.
  package init(_ path: String) throws(Errno) {
    let file = try File.openRegular(path, [.readWrite, .create], mode: 0o600).aboveStandard()
    let descriptor = file.rawValue
    try call { clinux_share_lock(descriptor) }
    fork = ForkGuard(descriptor)
    self.file = file
  }

  /// False if the file is missing.
  package static func isHeld(_ path: String) throws(Errno) -> Bool {
    do throws(Errno) {
      let file = try File.openRegular(path, .readOnly)
      let descriptor = file.rawValue
      return try call { clinux_is_lock_shared(descriptor) } == 1
    } catch .noSuchFile {
      return false
    }
  }
}
