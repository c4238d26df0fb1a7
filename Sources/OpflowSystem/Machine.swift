internal import CLinux

/// The machine this runs on, as much of it as this process may use.
package enum Machine {
  package static var hostName: String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      // SAFETY: the shim fills at most `count` bytes, the last one a zero.
      guard let start = buffer.baseAddress, clinux_host_name(start, buffer.count) == 0 else {
        return "localhost"
      }
      return String(cString: start)
    }
  }

  /// Processors that this process may use at once: its affinity, cut by its control group's quota;
  /// at least 1. As it was when it was first asked for.
  package static let cores: Int = {
    let affinity = max(1, Int(clinux_affinity_count()))
    guard let quota = ControlGroup.current.processorQuota else { return affinity }
    return max(1, min(affinity, quota))
  }()

  /// Memory that this process may use: the machine's, or its control group's limit. As it was when it
  /// was first asked for.
  package static let memoryBytes: UInt64 = {
    let physical = clinux_memory_bytes()
    guard let limit = ControlGroup.current.memoryLimitBytes else { return physical }
    return min(physical, limit)
  }()

  /// New with each boot (proc(5), /proc/sys/kernel/random/boot_id); empty where nobody tells.
  package static var bootID: String {
    guard let bytes = try? File.read("/proc/sys/kernel/random/boot_id") else { return "" }
    return String(decoding: bytes.prefix { $0 > 32 }, as: UTF8.self)
  }
}
