/// The GPUs that this process may use, as CUDA_VISIBLE_DEVICES names them (CUDA C++ Programming Guide, "CUDA Environment
/// Variables").
package enum GraphicsProcessors {
  package static let variable = "CUDA_VISIBLE_DEVICES"
  /// Of srun(1), where that gave some and did not set the other one.
  private static let variableOfSlurm = "SLURM_STEP_GPUS"

  /// As this process was started, and as the machine is; in the order in which tasks are given them.
  package static let names: [String] = names(
    variable: Environment.value(variable) ?? Environment.value(variableOfSlurm),
    devices: { (try? Path.names(in: "/dev")) ?? [] })

  /// - Parameters:
  ///   - variable: what the environment names; nil where it says nothing.
  ///   - devices: the names of device files.
  package static func names(variable: String?, devices: () -> [String]) -> [String] {
    guard let variable else {
      // Programs count them from 0 on, whichever device files there are.
      return (0..<devices().count(where: isDevice)).map { "\($0)" }
    }
    var names: [String] = []
    for part in variable.split(separator: ",", omittingEmptySubsequences: false) {
      let name = part.trimmed
      // What is none ends the list.
      guard let first = name.utf8.first, isDigit(first) || isIdentifier(name) else { break }
      names.append(String(name))
    }
    return names
  }

  /// `nvidia0` and so on.
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
