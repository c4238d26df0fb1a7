extension ValueReader {
  /// Whether a task's variable may have the name; reports an error if not.
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
