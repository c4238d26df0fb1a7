internal import CLinux

/// Detects network file systems: cached metadata may be stale there, and unchanged times prove
/// nothing.
package final class NetworkFiles {
  private let isNetwork: (String) -> Bool
  private var known: [UInt64: Bool] = [:]
  private var last: (device: UInt64, isNetwork: Bool)?

  package init(_ isNetwork: @escaping (String) -> Bool = { NetworkFiles.isNetwork(at: $0) }) {
    self.isNetwork = isNetwork
  }

  /// `path` is on the device, or contains the file.
  package func have(device: UInt64, path: () -> String) -> Bool {
    if let last, last.device == device { return last.isNetwork }
    // Usually all files are on one device.
    if let last { known[last.device] = last.isNetwork }
    let answer = known[device] ?? isNetwork(path())
    last = (device, answer)
    return answer
  }

  /// Falls back to the nearest visible ancestor: this machine may not see the folder yet.
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

  /// Lists a folder or its nearest ancestor, which makes the kernel refresh its cache.
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

  /// False if unknown.
  package static func isNetwork(at path: String) -> Bool {
    isNetwork(type: clinux_file_system_type(path))
  }

  package static func isNetwork(type: UInt32) -> Bool { types.contains(type) }

  /// From statfs(2) and the headers of file systems outside the kernel.
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

  /// True if file locks of other machines are visible at the existing `path`. Often they are not.
  package static func carriesLocks(at path: String) -> Bool {
    carriesLocks(type: clinux_file_system_type(path)) { mountType(at: path) }
  }

  /// `mountType` is the type in the mount table.
  package static func carriesLocks(type: UInt32, mountType: () -> String?) -> Bool {
    switch type {
    // The FUSE server decides.
    case 0x6573_5546: mountType().map { locking.contains($0) } ?? false
    // 9P, and BeeGFS unless tuneUseGlobalFileLocks is set.
    case 0x0102_1997, 0x1983_0326: false
    default: true
    }
  }

  /// FUSE file systems that forward flock(2) to their servers.
  private static let locking: Set<String> = [
    "fuse.glusterfs", "fuse.ceph", "fuse.ceph-fuse", "fuse.juicefs", "fuse.mfs",
  ]

  /// Finds the mount with the path's device (proc(5), /proc/self/mountinfo).
  private static func mountType(at path: String) -> String? {
    guard let device = try? Path.status(path).identity.device,
      let bytes = try? File.read("/proc/self/mountinfo")
    else { return nil }
    // As in makedev(3).
    let (major, minor) = (
      device >> 8 & 0xFFF | device >> 32 & ~0xFFF, device & 0xFF | device >> 12 & 0xFFFF_FF00
    )
    let wanted = "\(major):\(minor)"
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ")
      // Optional fields precede the dash.
      guard words.count > 2, words[2] == wanted, let dash = words.firstIndex(of: "-"),
        dash + 1 < words.count
      else { continue }
      return String(words[dash + 1])
    }
    return nil
  }
}
