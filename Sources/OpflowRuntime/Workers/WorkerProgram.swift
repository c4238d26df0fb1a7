internal import OpflowCore
internal import OpflowSystem

/// The programs that workers of this machine are.
enum WorkerProgram {
  static func path(for kind: WorkerKind) -> String {
    switch kind {
    case .command, .terminal, .check, .service: return "/proc/self/exe"
    // A path that cannot be read becomes a launch that fails, with the reason.
    case .download:
      return downloader(of: (try? Path.real("/proc/self/exe")) ?? "/proc/self/exe")
    case .block: preconditionFailure("a program that has blocks comes by itself")
    }
  }

  /// Where the program for downloads lies: beside `program`, as a build leaves it, or in the
  /// `libexec` of the prefix that `program` is installed in. Beside it where it is in neither.
  static func downloader(of program: String) -> String {
    let folder = Path.parent(of: program)
    let beside = folder + "/opflow-download"
    let installed = Path.parent(of: folder) + "/libexec/opflow/opflow-download"
    return Path.isMissing(beside) && Path.exists(installed) ? installed : beside
  }

  /// What a worker finds in its environment beyond this process's own.
  ///
  /// - Parameter variables: of what its tasks are a part of.
  static func additions(for kind: WorkerKind, _ variables: [String]) -> [String] {
    switch kind {
    case .command, .terminal, .service: variables
    case .check, .block: []
    // GnuTLS comes along with libcurl for protocols that no download speaks, and would test itself at
    // each start. A libcurl that does use it starts it.
    case .download: ["GNUTLS_NO_IMPLICIT_INIT=1"]
    }
  }

  /// Why one could not be started.
  static func complaint(_ error: ProgramError, of kind: WorkerKind) -> String {
    guard error.step == .execute else { return "no worker could be started: \(error.errno)" }
    let hint =
      switch kind {
      case .command, .terminal, .check, .service, .block: ""
      case .download: " (it must lie beside opflow, or in ../libexec/opflow from there)"
      }
    return "\(path(for: kind)) cannot be executed: \(error.errno)\(hint)"
  }
}
