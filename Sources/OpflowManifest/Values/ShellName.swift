/// How known shells take a script.
enum ShellName {
  /// Returns the command line before the script; nil for unknown shells. Scripts stop at the first
  /// failure (`-e`), also within a pipeline where `pipefail` exists.
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
