internal import OpflowManifest
internal import OpflowPlan
internal import OpflowSystem

/// Reads the files that a manifest names. Refuses FIFOs, devices and sockets, so that reading never
/// blocks.
enum FurtherFile {
  static func read(_ path: String, atMost limit: Int) throws(NamedFileFault) -> NamedFile {
    let status: FileStatus
    let realPath: String
    let bytes: [UInt8]
    do throws(Errno) {
      (status, realPath) = (try Path.status(path), try Path.real(path))
    } catch {
      throw error == .noSuchFile ? .missing : .failed("\(error)")
    }
    if let kind = words(for: status.kind) { throw .noFile(kind) }
    // Error messages show the first line of a file: /proc/self/environ would reveal the
    // environment.
    if isOfProcesses(status) { throw .noFile("an entry of /proc") }
    if status.sizeBytes > limit { throw .tooLarge }
    do throws(Errno) {
      bytes = try File.openRegular(realPath, .readOnly).readAll(atMost: limit + 1)
    } catch {
      throw .failed("\(error)")
    }
    if bytes.count > limit { throw .tooLarge }
    return NamedFile(
      bytes: bytes, realPath: realPath,
      number: FileNumber(device: status.identity.device, inode: status.identity.inode))
  }

  /// nil if the file cannot be read.
  static func planFile(_ path: String) -> PlanFile? {
    do throws(Errno) {
      let realPath = try Path.real(path)
      guard try Path.status(realPath).kind == .file else { return nil }
      let content = try FileHash.planKey(realPath)
      return PlanFile(path: path, realPath: realPath, content: content)
    } catch {
      return error == .noSuchFile ? PlanFile(missing: path) : nil
    }
  }

  private static func isOfProcesses(_ status: FileStatus) -> Bool {
    (try? Path.linkStatus("/proc/self"))?.identity.device == status.identity.device
  }

  private static func words(for kind: FileStatus.Kind) -> String? {
    switch kind {
    case .file: nil
    case .directory: "a folder"
    case .link: "a link"
    case .device: "a device"
    case .fifo: "a FIFO"
    case .socket: "a socket"
    case .other: "something else"
    }
  }
}
