// Names of variables that a task has.

extension ValueReader {
  /// Whether a manifest may speak of a task's variable of that name; reported where not.
  func isTaskVariable(_ name: Text, at node: Node) -> Bool {
    if name.hasPrefix("OPFLOW_") {
      mistakes.error(
        document.place(node), "`\(name.string)` is opflow's own",
        help: "names that begin with `OPFLOW_` are set by opflow")
      return false
    }
    if VariableName.isEnvironment(name) { return true }
    mistakes.error(
      document.place(node), "`\(name.string)` is no name of an environment variable")
    return false
  }
}
