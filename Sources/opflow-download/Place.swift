internal import OpflowDownload
internal import OpflowSystem

/// Only regular files, and links at the target, are ever replaced or removed, so that even root
/// cannot lose a device.
enum Place {
  /// Throws if `path` is neither a file nor a link to one.
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
        // A dangling link.
        if error == .noSuchFile || error == .tooManyLinks { return }
        throw LocalFailure.of("\(text): it is a symbolic link that cannot be followed", error)
      }
    }
    if kind == .file { return }
    let what = isLink ? "a symbolic link to \(name(kind))" : name(kind)
    let number: Errno = kind == .directory ? .isADirectory : .exists
    throw DownloadFailure(.local(number.rawValue), "\(text): it is \(what)")
  }

  /// Into /proc, like /dev/stdout, where a link means another file for each process.
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

  /// The kernel's limit (path_resolution(7)).
  private static let mostLinks = 40

  static func clear(_ path: String) throws(DownloadFailure) {
    guard try isThere(path) else { return }
    do throws(Errno) {
      try Path.removeIfThere(path)
    } catch {
      throw LocalFailure.of("cannot remove \(path)", error)
    }
  }

  /// Throws if `path`, one of a download's own names, is not a download's.
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
