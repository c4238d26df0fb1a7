internal import OpflowDownload
internal import OpflowSystem

/// Closed and unlocked with the last reference.
final class SharedFile: Sendable {
  let descriptor: Descriptor
  let identity: FileIdentity

  init(_ descriptor: consuming Descriptor) throws(Errno) {
    identity = try descriptor.status().identity
    self.descriptor = descriptor
  }

  private init(_ descriptor: consuming Descriptor, _ identity: FileIdentity) {
    self.descriptor = descriptor
    self.identity = identity
  }

  /// Opens and locks a part, or creates it; returns also its length. Fails if another process
  /// downloads to the same target.
  static func part(_ path: String, of target: String) throws(DownloadFailure) -> (SharedFile, Int64)
  {
    // Opening has side effects on some devices.
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

  /// No other user can have written the file.
  static func isOwn(_ status: FileStatus) -> Bool { status.isOwn && status.linkCount <= 1 }

  /// More replacements are not a previous holder finishing.
  private static let mostTries = 100

  private static func openPart(_ path: String) throws(Errno) -> (SharedFile, Int64) {
    // Again if the previous holder renamed or removed the file between open and lock.
    for _ in 0..<mostTries {
      let isNew = Path.isMissing(path)
      // The kernel may refuse O_CREAT on another user's file (fs.protected_regular).
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
      // Some file systems report another owner for a new file.
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
