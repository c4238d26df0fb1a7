internal import OpflowBase
import OpflowCommandLine
import OpflowManifest
internal import OpflowPlan
import OpflowRuntime

/// The internal command of a generator: when the tasks in `after` have succeeded, it reads what its
/// `matrix` names and adds the matrix tasks to its run.
enum LegsCommand {
  /// `words` are the matrix's ID and the run's folder.
  static func run(_ words: [String]) -> Int32 {
    do throws(CommandError) {
      guard words.count == 2, let around = TaskAround.here, around.task == words[0] else {
        throw CommandError(
          .usage, "`opflow \(LegMaker.word)` is run by a task that makes legs, and by nobody else")
      }
      try makeLegs(of: words[0], in: RunFolder(id: around.run, path: words[1]))
      return ExitCode.success.rawValue
    } catch {
      Console.complain(error.text)
      return error.code.rawValue
    }
  }

  private static func makeLegs(of family: String, in folder: RunFolder) throws(CommandError) {
    let arguments = Invocation(.add)
    let console = try Console.enter(arguments.view)
    let addition = try AddCommand.join(
      folder, arguments, console, asking: "opflow \(LegMaker.word)"
    ) {
      (plan, id) throws(CommandError) in
      guard let maker = plan.task(named: family), plan.makesLegs(maker) else {
        throw CommandError(
          .usage, "run \(folder.id) has no task \(CleanText.string(family)) that makes legs")
      }
      return try console.preparing { () throws(PreparationError) in
        try PreparedAddition(legsMadeBy: maker, of: folder, plan, id)
      }
    }
    let count = addition.taskCount
    let text =
      if count > 0 {
        "\(count) \(count == 1 ? "leg" : "legs")"
      } else if addition.unchanged.isEmpty {
        "no leg: the matrix is empty"
      } else {
        "the same legs as before"
      }
    try Console.write(text + "\n")
  }
}
