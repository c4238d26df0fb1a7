internal import OpflowPlan
internal import OpflowSystem

enum WorkerProgram {
  static func path(for kind: WorkerKind) -> String {
    switch kind {
    case .command, .terminal, .check, .service: return "/proc/self/exe"
    case .download:
      return downloader(of: (try? Path.real("/proc/self/exe")) ?? "/proc/self/exe")
    case .block: preconditionFailure("a program that has blocks comes by itself")
    }
  }

  /// Beside `program`, or in `libexec` of the prefix where `program` is installed; beside it if
  /// neither exists.
  static func downloader(of program: String) -> String {
    let folder = Path.parent(of: program)
    let beside = folder + "/opflow-download"
    let installed = Path.parent(of: folder) + "/libexec/opflow/opflow-download"
    return Path.isMissing(beside) && Path.exists(installed) ? installed : beside
  }

  /// `variables` are trace variables for its tasks.
  static func additions(for kind: WorkerKind, _ variables: [String]) -> [String] {
    switch kind {
    case .command, .terminal, .service: variables
    case .check, .block: []
    // GnuTLS comes with libcurl for protocols that downloads never use, and would run its
    // self-tests at each start.
    case .download: ["GNUTLS_NO_IMPLICIT_INIT=1"]
    }
  }

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
