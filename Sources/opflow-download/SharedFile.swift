internal import OpflowCore
internal import OpflowDownload
internal import OpflowSystem

/// An open file that several have; closed, and its lock given up, when the last of them goes.
final class SharedFile: Sendable {
  let descriptor: Descriptor
  /// What it is known by, whatever its name becomes.
  let identity: FileIdentity

  init(_ descriptor: consuming Descriptor) throws(Errno) {
    identity = try descriptor.status().identity
    self.descriptor = descriptor
  }

  private init(_ descriptor: consuming Descriptor, _ identity: FileIdentity) {
    self.descriptor = descriptor
    self.identity = identity
  }

  /// Opens the part of a download, and makes it where it is missing. It belongs to this process alone
  /// from then on: another one that downloads to the same place is told so.
  ///
  /// - Returns: the file, and how long it is.
  static func part(_ path: String, of target: String) throws(DownloadFailure) -> (SharedFile, Int64)
  {
    // Before it is opened: that alone does something to some devices.
    _ = try Place.isThere(path)
    do throws(Errno) {
      return try openPart(path)
    } catch .wouldBlock {
      throw DownloadFailure(.busy, "another process is downloading to \(target)")
    } catch .tooManyLinks {
      throw DownloadFailure(
        .local(Errno.tooManyLinks.rawValue), "\(path) is a symbolic link, and is not followed")
    } catch {
      if let status = try? Path.linkStatus(path), !isOwn(status) {
        throw LocalFailure.of(
          "cannot remove \(path), which belongs to user \(status.owner) or is not its alone", error)
      }
      throw LocalFailure.of("cannot open \(path)", error)
    }
  }

  /// Whether nobody else has made it: else its bytes, and the file that it becomes, were not ours.
  static func isOwn(_ status: FileStatus) -> Bool { status.isOwn && status.linkCount <= 1 }

  /// Whoever puts another file there as often is not a holder that has come to its end.
  private static let mostTries = 100

  private static func openPart(_ path: String) throws(Errno) -> (SharedFile, Int64) {
    // Again when the file was put in place, or removed, by its holder between open and lock.
    for _ in 0..<mostTries {
      let isNew = Path.isMissing(path)
      // The kernel may refuse to open the file of another user with O_CREAT (fs.protected_regular).
      let making: File.Flags = isNew ? [.create, .exclusive] : []
      let file: Descriptor
      do throws(Errno) {
        file = try File.open(
          path, making.union([.readWrite, .noFollow, .nonblocking]), mode: 0o600)
      } catch {
        if error == (isNew ? .exists : .noSuchFile) { continue }
        throw error
      }
      guard try file.tryLock() else { throw .wouldBlock }
      let status = try file.status()
      guard status.kind == .file else { throw .exists }
      // Some file systems name another owner for what this process has just made.
      guard isNew || isOwn(status) else {
        try Path.removeIfThere(path)
        continue
      }
      do throws(Errno) {
        if try status.identity == Path.linkStatus(path).identity {
          if status.mode != 0o600 { try file.setMode(0o600) }
          return (SharedFile(file, status.identity), status.sizeBytes)
        }
      } catch {
        guard error == .noSuchFile else { throw error }
      }
    }
    throw .wouldBlock
  }
}
