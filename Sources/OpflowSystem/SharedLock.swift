internal import CLinux

/// A lock on a file that any number of programs have at once, and that the kernel gives up when its holder is gone
/// (fcntl_locking(2), "Open file description locks"). Whether anybody has it can be seen without taking it.
package struct SharedLock: ~Copyable {
  private let file: Descriptor
  private let fork: ForkGuard

  /// Takes the lock on the file at `path`, which is created where it is missing. A child that this program forks has it not.
  package init(_ path: String) throws(Errno) {
    let file = try File.openRegular(path, [.readWrite, .create], mode: 0o600).aboveStandard()
    let descriptor = file.rawValue
    try call { clinux_share_lock(descriptor) }
    fork = ForkGuard(descriptor)
    self.file = file
  }

  /// Whether anybody has the lock on the file at `path`; nobody where there is none.
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
