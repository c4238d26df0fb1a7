internal import CLinux

/// The part of this machine that this process may use.
package enum Machine {
  package static var hostName: String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      // SAFETY: the shim writes at most `count` bytes, zero included.
      guard let start = buffer.baseAddress, clinux_host_name(start, buffer.count) == 0 else {
        return "localhost"
      }
      return String(cString: start)
    }
  }

  /// The CPU affinity, limited by the cgroup quota; at least 1.
  package static let cores: Int = {
    let affinity = max(1, Int(clinux_affinity_count()))
    guard let quota = ControlGroup.current.processorQuota else { return affinity }
    return max(1, min(affinity, quota))
  }()

  /// The machine's memory, or the cgroup limit if lower.
  package static let memoryBytes: UInt64 = {
    let physical = clinux_memory_bytes()
    guard let limit = ControlGroup.current.memoryLimitBytes else { return physical }
    return min(physical, limit)
  }()

  /// Empty if unknown (proc(5)).
  package static var bootID: String {
    guard let bytes = try? File.read("/proc/sys/kernel/random/boot_id") else { return "" }
    return String(decoding: bytes.prefix { $0 > 32 }, as: UTF8.self)
  }
}
