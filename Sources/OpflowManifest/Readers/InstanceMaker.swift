internal import OpflowPlan

/// The generator of a matrix with `after`: a task that adds the matrix tasks during the run.
package enum InstanceMaker {
  /// The subcommand of opflow that the generator runs; the matrix's ID follows.
  package static let word = "legs"

  /// Known before matrix tasks exist.
  struct Instances {
    var sources: [ByteView]
    /// True if the matrix tasks use the cache, and a memory limit.
    var areCached: Bool
    var areLimited: Bool
  }

  /// Turns a matrix's template into its generator. Other keys apply to the matrix tasks; secrets
  /// stay, because the run needs them from the start.
  ///
  /// - Parameter hasOwnFate: True if `if` is already decided for all matrix tasks.
  static func turn(
    _ task: inout TaskValues, reading sources: [ByteView], folder: ByteView, hasOwnFate: Bool,
    _ store: TextStore
  ) {
    task.instances = Instances(
      sources: sources, areCached: task.flags.contains(.cached),
      areLimited: task.processes[.memoryLimit] > 0)
    let instanceFlags: TaskFlags = [.manual, .leavesValues, .decidesOthers, .conditionFalse]
    task.flags.formIntersection(instanceFlags)
    if !hasOwnFate { task.flags.remove(.conditionFalse) }
    if !task.flags.contains(.conditionFalse) { task.flags.formUnion([.control, .emptyMatrix]) }
    task.texts.remove(.tags) { $0.isEmpty }
    task.settings.directory = Directory(path: folder, stable: folder)
    task.kind = .command
    task.words = ["opflow", word, task.name.string].map {
      let text = store.copy($0)
      return Scalar(node: task.key, text: text, stable: text, isTyped: false)
    }
    task.script = nil
    task.download = nil
    task.allowedCodes.removeAll()
    task.lateCondition = nil
    task.readsValues = false
    task.valueReads.removeAll()
    task.inputs.removeAll()
    task.hasInputs = false
    task.written.removeAll()
    task.service = nil
    task.processes = ProcessRules()
    // The coordinator adds the matrix tasks, so its computer must run the generator.
    task.processes.isLocal = true
    task.lists = TaskLists()
    task.own.formUnion([.environment, .demands, .policy, .directory])
    task.settings.policy = TaskPolicy()
    task.settings.retryCodes.removeAll()
    task.settings.hasRetryMax = true
    task.settings.failsWhenInterrupted = false
  }
}

extension TaskFlags {
  /// The generator's selection does not apply.
  mutating func takeFromMaker(_ maker: TaskFlags) {
    formUnion(maker.intersection([.leavesValues, .decidesOthers]))
    remove(.manual)
  }
}
