internal import OpflowCore
internal import OpflowSystem

/// An open file that several have; closed, and its lock given up, when the last of them goes.
final class SharedFile {
  let descriptor: Descriptor
  init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
}

/// A file that is whole and verified, on its way to its place: it is synced, renamed, and then its
/// folder is synced, so that what stands there is right whatever happens to the machine.
final class FinishedFile {
  enum State {
    case syncing
    /// It may be renamed when its turn comes.
    case synced
    /// It stands where it belongs, and its folder is being synced.
    case placed
    case done
    case failed(DownloadFailure)
  }

  private static let executeBits: UInt32 = 0o111

  let file: SharedFile
  let sizeBytes: Int64
  let device: UInt64
  private let path: String
  let target: String
  private let mode: UInt32
  var state = State.syncing

  /// - Parameters:
  ///   - path: where it is now.
  ///   - mode: the permission bits that it is to have.
  init(
    _ file: SharedFile, path: String, target: String, mode: UInt32
  ) throws(DownloadFailure) {
    self.file = file
    self.path = path
    self.target = target
    self.mode = mode
    do throws(Errno) {
      // Not to be executed under a name that nobody asked for.
      try file.descriptor.setMode(mode & ~Self.executeBits)
      let status = try file.descriptor.status()
      sizeBytes = status.sizeBytes
      device = status.identity.device
    } catch {
      throw LocalFailure.of("cannot put \(target) in place", error)
    }
  }

  var folder: String { Path.parent(of: target) }

  func fail(_ error: Errno) {
    state = .failed(LocalFailure.of("cannot put \(target) in place", error))
  }

  /// Renames it, once it is synced.
  func place() {
    do throws(Errno) {
      try Path.rename(path, to: target)
      if mode & Self.executeBits != 0 {
        try file.descriptor.setMode(mode)
        try file.descriptor.sync()
      }
      state = .placed
    } catch {
      fail(error)
    }
  }
}

/// Failures of system calls, as a download tells them.
enum LocalFailure {
  static func of(_ what: String, _ errno: Errno) -> DownloadFailure {
    DownloadFailure(.local(errno.rawValue), "\(what): \(errno)")
  }
}
