internal import OpflowCore
internal import OpflowSystem

/// An open file that several have; closed, and its lock given up, when the last of them goes.
final class SharedFile: Sendable {
  let descriptor: Descriptor
  init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

  /// Opens the part of a download, and makes it where it is missing. It belongs to this process alone
  /// from then on: another one that downloads to the same place is told so.
  ///
  /// - Returns: the file, and how long it is.
  static func part(_ path: String, of target: String) throws(DownloadFailure) -> (SharedFile, Int64)
  {
    do throws(Errno) {
      return try openPart(path)
    } catch .wouldBlock {
      throw DownloadFailure(.busy, "another process is downloading to \(target)")
    } catch .tooManyLinks {
      throw DownloadFailure(
        .local(Errno.tooManyLinks.rawValue), "\(path) is a symbolic link, and is not followed")
    } catch {
      throw LocalFailure.of("cannot open \(path)", error)
    }
  }

  private static func openPart(_ path: String) throws(Errno) -> (SharedFile, Int64) {
    // Again when the file was put in place, or removed, by its holder between open and lock.
    while true {
      let file = try File.open(path, [.readWrite, .create, .noFollow, .nonblocking], mode: 0o600)
      guard try file.tryLock() else { throw .wouldBlock }
      let status = try file.status()
      guard status.kind == .file else { throw .notSupported }
      do throws(Errno) {
        if try status.identity == Path.linkStatus(path).identity {
          if status.mode != 0o600 { try file.setMode(0o600) }
          return (SharedFile(file), status.sizeBytes)
        }
      } catch {
        guard error == .noSuchFile else { throw error }
      }
    }
  }
}
