internal import CLinux
internal import Glibc

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

  /// The CPU affinity, limited by the cgroup quota.
  package static let cores: Int = {
    let affinity = max(1, Int(clinux_affinity_count()))
    guard let quota = ControlGroup.current.processorQuota else { return affinity }
    return max(1, min(affinity, quota))
  }()

  /// The physical memory, or a lower cgroup limit.
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

/// The GPUs that this process may use, named as in CUDA_VISIBLE_DEVICES (CUDA C++ Programming
/// Guide).
package enum GraphicsProcessors {
  package static let variable = "CUDA_VISIBLE_DEVICES"
  /// srun(1) sets it, and not always CUDA_VISIBLE_DEVICES.
  private static let variableOfSlurm = "SLURM_STEP_GPUS"

  /// The GPUs of the environment, else of the machine, in the order in which tasks get them.
  package static let names: [String] = names(
    variable: Environment.value(variable) ?? Environment.value(variableOfSlurm),
    devices: { (try? Path.names(in: "/dev")) ?? [] })

  /// `devices` returns the names in /dev.
  package static func names(variable: String?, devices: () -> [String]) -> [String] {
    guard let variable else {
      // Programs number GPUs from 0, whatever the device files' names.
      return (0..<devices().count(where: isDevice)).map { "\($0)" }
    }
    var names: [String] = []
    for part in variable.split(separator: ",", omittingEmptySubsequences: false) {
      let name = part.trimmed
      // An invalid entry ends the list, as in CUDA.
      guard let first = name.utf8.first, isDigit(first) || isIdentifier(name) else { break }
      names.append(String(name))
    }
    return names
  }

  private static func isDevice(_ name: String) -> Bool {
    let prefix = "nvidia"
    let rest = name.utf8.dropFirst(prefix.utf8.count)
    return name.hasPrefix(prefix) && !rest.isEmpty && rest.allSatisfy(isDigit)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= 48 && byte <= 57 }

  private static func isIdentifier(_ name: Substring) -> Bool {
    name.hasPrefix("GPU-") || name.hasPrefix("MIG-")
  }
}

extension Substring {
  fileprivate var trimmed: Substring {
    var text = self
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return text
  }
}

package enum Clock {
  /// CLOCK_MONOTONIC: stops while the machine is suspended.
  package static var monotonicNanoseconds: Int64 { clinux_monotonic_nanoseconds() }

  /// CLOCK_BOOTTIME: counts suspended time.
  package static var bootNanoseconds: Int64 { clinux_boot_nanoseconds() }

  /// Since the epoch.
  package static var wallMilliseconds: Int64 { clinux_realtime_milliseconds() }

  /// A signal may end the sleep early.
  package static func sleep(milliseconds: Int32) { _ = poll(nil, 0, milliseconds) }
}
