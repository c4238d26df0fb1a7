internal import OpflowCore
internal import OpflowSystem

/// The programs that workers of this machine are.
enum WorkerProgram {
  static func path(for kind: WorkerKind) -> String {
    switch kind {
    case .command, .terminal, .check, .service: return "/proc/self/exe"
    // Beside this program, wherever that was put. A path that cannot be read becomes a launch that
    // fails, with the reason.
    case .download:
      let own = (try? Path.real("/proc/self/exe")) ?? "/proc/self/exe"
      return Path.parent(of: own) + "/opflow-download"
    }
  }

  /// What a worker finds in its environment beyond this process's own.
  ///
  /// - Parameter trace: what its tasks are a part of.
  static func additions(for kind: WorkerKind, _ trace: DriveTrace) -> [String] {
    switch kind {
    case .command, .terminal, .service: trace.variables
    case .check: []
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
      case .command, .terminal, .check, .service: ""
      case .download: " (it must lie beside opflow)"
      }
    return "\(path(for: kind)) cannot be executed: \(error.errno)\(hint)"
  }
}
