internal import OpflowCore
internal import OpflowDownload
internal import OpflowSystem

/// What stands at the paths that a download writes. Only regular files, and symbolic links where the
/// file belongs, are ever replaced or removed: whoever may do anything shall not lose a device.
enum Place {
  /// Throws when the file must not be put at `path`: there is something that is no file, or a link to
  /// such.
  static func refuseOther(_ path: String) throws(DownloadFailure) {
    let text = "cannot put a file at \(path)"
    var kind: FileStatus.Kind
    do throws(Errno) {
      kind = try Path.linkStatus(path).kind
    } catch {
      if error == .noSuchFile { return }
      throw LocalFailure.of(text, error)
    }
    let isLink = kind == .link
    if isLink, leadsThroughProcesses(path) {
      throw DownloadFailure(
        .local(Errno.exists.rawValue),
        "\(text): it is a symbolic link to an open file of whoever asks")
    }
    if isLink {
      do throws(Errno) {
        kind = try Path.status(path).kind
      } catch {
        // It leads nowhere.
        if error == .noSuchFile || error == .tooManyLinks { return }
        throw LocalFailure.of("\(text): it is a symbolic link that cannot be followed", error)
      }
    }
    if kind == .file { return }
    let what = isLink ? "a symbolic link to \(name(kind))" : name(kind)
    let number: Errno = kind == .directory ? .isADirectory : .exists
    throw DownloadFailure(.local(number.rawValue), "\(text): it is \(what)")
  }

  /// Whether a link is, or leads to, one of /proc, such as /dev/stdout: it means another file to each
  /// process, a regular one here and a terminal there.
  private static func leadsThroughProcesses(_ path: String) -> Bool {
    guard let processes = try? Path.linkStatus("/proc/self").identity.device else { return false }
    var path = path
    for _ in 0..<mostLinks {
      guard let status = try? Path.linkStatus(path), status.kind == .link else { return false }
      if status.identity.device == processes { return true }
      guard let target = try? Path.linkTarget(path) else { return false }
      path = target.hasPrefix("/") ? target : Path.parent(of: path) + "/" + target
    }
    return false
  }

  /// As many as Linux follows (path_resolution(7)).
  private static let mostLinks = 40

  /// Removes what an earlier try left at one of a download's own names, where there is something.
  static func clear(_ path: String) throws(DownloadFailure) {
    guard try isThere(path) else { return }
    do throws(Errno) {
      try Path.removeIfThere(path)
    } catch {
      throw LocalFailure.of("cannot remove \(path)", error)
    }
  }

  /// Whether something stands at one of a download's own names. Throws when it is nothing that a
  /// download could have left there.
  static func isThere(_ path: String) throws(DownloadFailure) -> Bool {
    let kind: FileStatus.Kind
    do throws(Errno) {
      kind = try Path.linkStatus(path).kind
    } catch {
      if error == .noSuchFile { return false }
      throw LocalFailure.of("cannot look at \(path)", error)
    }
    if kind == .file || kind == .link { return true }
    throw DownloadFailure(
      .local(Errno.exists.rawValue), "\(path) is \(name(kind)), and is not replaced")
  }

  /// Removes the file of that identity at `path`. Another one that has come there is another's.
  static func remove(_ path: String, ifIs identity: FileIdentity) {
    if (try? Path.linkStatus(path))?.identity == identity { try? Path.remove(path) }
  }

  static func name(_ kind: FileStatus.Kind) -> String {
    switch kind {
    case .file: "a file"
    case .directory: "a folder"
    case .link: "a symbolic link"
    case .device: "a device"
    case .fifo: "a FIFO"
    case .socket: "a socket"
    case .other: "no file"
    }
  }
}
