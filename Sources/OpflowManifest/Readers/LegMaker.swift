internal import OpflowCore

/// A task that makes the legs of a family while the run goes on (`after` in a `matrix`): a command of opflow's own,
/// which is begun by what its worker is.
package enum LegMaker {
  /// The word behind `opflow` in its command; the family's id follows.
  package static let word = "legs"

  /// What is known of legs before they are made.
  struct Legs {
    /// What they are read of. All else that the family says they say themselves.
    var sources: [Text]
    /// Their results are cached; their memory is limited.
    var areCached: Bool
    var areLimited: Bool
  }

  /// Makes what was read of a family, as far as it can be read without a leg, the task that makes its legs.
  ///
  /// What else the family says holds of its legs. What it says of secrets the run has to know when it begins.
  ///
  /// - Parameters:
  ///   - sources: patterns, and names of files.
  ///   - folder: where its command is begun.
  ///   - hasOwnFate: whether its `if` is decided, for all legs.
  ///   - store: holds texts as long as others of the task.
  static func turn(
    _ task: inout TaskValues, reading sources: [Text], folder: Text, hasOwnFate: Bool,
    _ store: TextStore
  ) {
    task.legs = Legs(
      sources: sources, areCached: task.flags.contains(.cached),
      areLimited: task.processes[.memoryLimit] > 0)
    let legFlags: TaskFlags = [.manual, .leavesValues, .decidesOthers, .conditionFalse]
    task.flags.formIntersection(legFlags)
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
    // The legs are added on the coordinator's machine, with its environment.
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
  /// What a leg has of the task that made it. Whether it is to run was decided with that.
  mutating func takeFromMaker(_ maker: TaskFlags) {
    formUnion(maker.intersection([.leavesValues, .decidesOthers]))
    remove(.manual)
  }
}
