internal import CLinux

/// Whether files lie on a network's file system, where other machines write too: what the kernel remembers of them may be
/// older than what is there, and times that stay the same tell nothing.
package final class NetworkFiles {
  private let isNetwork: (String) -> Bool
  /// By device, but for the last.
  private var known: [UInt64: Bool] = [:]
  private var last: (device: UInt64, isNetwork: Bool)?

  /// - Parameter isNetwork: of a path; for tests another than what the kernel says.
  package init(_ isNetwork: @escaping (String) -> Bool = { NetworkFiles.isNetwork(at: $0) }) {
    self.isNetwork = isNetwork
  }

  /// - Parameter path: of what has that device, or a folder that it is in.
  package func have(device: UInt64, path: () -> String) -> Bool {
    if let last, last.device == device { return last.isNetwork }
    // Mostly there is one device.
    if let last { known[last.device] = last.isNetwork }
    let answer = known[device] ?? isNetwork(path())
    last = (device, answer)
    return answer
  }

  /// The same of a folder, or of the next one above it that is there: on this machine that one may not be seen yet.
  package func have(folder: String) -> Bool {
    guard let (folder, status) = Self.seen(folder) else { return false }
    return have(device: status.identity.device) { folder }
  }

  private static func seen(_ folder: String) -> (folder: String, status: FileStatus)? {
    do throws(Errno) {
      return (folder, try Path.status(folder))
    } catch {
      let above = Path.parent(of: folder)
      guard error == .noSuchFile || error == .notADirectory, above != folder else { return nil }
      return seen(above)
    }
  }

  /// Has the kernel look anew at what is in a folder, or in the next one above it that is there: what it remembers of that
  /// may be old until it is listed.
  package static func refresh(folder: String) {
    do throws(Errno) {
      _ = try Path.names(in: folder)
    } catch {
      let above = Path.parent(of: folder)
      if error == .noSuchFile || error == .notADirectory, above != folder {
        refresh(folder: above)
      }
    }
  }

  /// No where that cannot be known.
  package static func isNetwork(at path: String) -> Bool {
    isNetwork(type: clinux_file_system_type(path))
  }

  /// - Parameter type: as statfs(2) tells it.
  package static func isNetwork(type: UInt32) -> Bool { types.contains(type) }

  /// statfs(2), and the headers of those that are not in the kernel.
  private static let types: [UInt32] = [
    0x6969,  // NFS
    0x517B,  // SMB
    0xFF53_4D42,  // CIFS
    0xFE53_4D42,  // SMB 2
    0x6573_5546,  // FUSE
    0x0BD0_0BD0,  // Lustre
    0x4750_4653,  // GPFS
    0x00C3_6400,  // Ceph
    0x5346_414F,  // AFS
    0x6B41_4653,  // kAFS
    0x7375_7245,  // Coda
    0x0102_1997,  // 9P
    0x1983_0326,  // BeeGFS
    0xAAD7_AAEA,  // PanFS
    0x0116_1970,  // GFS2
    0x7461_636F,  // OCFS2
    0x2003_0528,  // OrangeFS
  ]

  /// Whether a lock that a process of another machine has on a file there is known to show here. On many file systems
  /// each machine has locks of its own.
  ///
  /// - Parameter path: of what is there.
  package static func carriesLocks(at path: String) -> Bool {
    carriesLocks(type: clinux_file_system_type(path)) { mountType(at: path) }
  }

  /// - Parameters:
  ///   - type: as statfs(2) tells it.
  ///   - mountType: the name of the type of file system, as mount(8) has it; nil where that cannot be known.
  package static func carriesLocks(type: UInt32, mountType: () -> String?) -> Bool {
    switch type {
    // FUSE: a process decides.
    case 0x6573_5546: mountType().map { locking.contains($0) } ?? false
    // 9P, and BeeGFS where nobody set tuneUseGlobalFileLocks.
    case 0x0102_1997, 0x1983_0326: false
    default: true
    }
  }

  /// Those of FUSE that ask their servers for flock(2).
  private static let locking: Set<String> = [
    "fuse.glusterfs", "fuse.ceph", "fuse.ceph-fuse", "fuse.juicefs", "fuse.mfs",
  ]

  /// By the device (proc(5), /proc/self/mountinfo).
  private static func mountType(at path: String) -> String? {
    guard let device = try? Path.status(path).identity.device,
      let bytes = try? File.read("/proc/self/mountinfo")
    else { return nil }
    // Numbers of devices are split as makedev(3) joins them.
    let (major, minor) = (
      device >> 8 & 0xFFF | device >> 32 & ~0xFFF, device & 0xFF | device >> 12 & 0xFFFF_FF00
    )
    let wanted = "\(major):\(minor)"
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ")
      // Fields of their own stand before the dash, in any number.
      guard words.count > 2, words[2] == wanted, let dash = words.firstIndex(of: "-"),
        dash + 1 < words.count
      else { continue }
      return String(words[dash + 1])
    }
    return nil
  }
}
