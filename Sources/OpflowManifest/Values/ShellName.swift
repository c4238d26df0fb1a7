/// How a shell that is named by a string takes a script.
enum ShellName {
  /// The words before the script; nil for a shell whose flags opflow does not know.
  ///
  /// Every shell stops at the first command that fails (`-e`); those that have `pipefail` also take
  /// the failure of any command of a pipeline.
  static func words(_ shell: String) -> [String]? {
    let name = shell.split(separator: "/").last.map(String.init) ?? shell
    switch name {
    case "bash", "zsh", "ksh", "ksh93", "mksh": return [shell, "-eo", "pipefail", "-c"]
    case "sh", "dash", "ash", "yash", "posh": return [shell, "-ec"]
    default: return nil
    }
  }

  static let standard = ["/bin/sh", "-ec"]
}
