/// The GPUs that this process may use, named as in CUDA_VISIBLE_DEVICES (CUDA C++ Programming
/// Guide, "CUDA Environment Variables").
package enum GraphicsProcessors {
  package static let variable = "CUDA_VISIBLE_DEVICES"
  /// srun(1) sets this, and not always CUDA_VISIBLE_DEVICES.
  private static let variableOfSlurm = "SLURM_STEP_GPUS"

  /// Those that this process was given, else all of the machine, in the order in which tasks get
  /// them.
  package static let names: [String] = names(
    variable: Environment.value(variable) ?? Environment.value(variableOfSlurm),
    devices: { (try? Path.names(in: "/dev")) ?? [] })

  /// `variable` is the environment variable's value, `devices` the names in /dev.
  package static func names(variable: String?, devices: () -> [String]) -> [String] {
    guard let variable else {
      // Programs number GPUs from 0, whatever the device files are called.
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

  /// `nvidia0`, `nvidia1` and so on.
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
