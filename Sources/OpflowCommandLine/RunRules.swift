internal import OpflowBase

/// The rules between flags of `run`, `resume` and `plan`.
enum RunRules {
  private static func checkArguments(_ invocation: Invocation) throws(Complaint) {
    guard let first = invocation.arguments.first else { return }
    let what = "`-- \(first.clean)`: arguments go to one task"
    guard let task = invocation.tasks.first else {
      throw Complaint("\(what), and none is named: `opflow run TASK -- \(first.clean)`")
    }
    if invocation.tasks.count > 1 {
      let names = invocation.tasks.map(\.clean).joined(separator: ", ")
      throw Complaint("\(what), and \(invocation.tasks.count) are named: \(names)")
    }
    if Glob.isPattern(task) || task.hasPrefix("tag:") {
      throw Complaint("\(what), and `\(task.clean)` may be several: name it by its id")
    }
  }

  static func check(_ invocation: inout Invocation) throws(Complaint) {
    if invocation.command == .plan { invocation.isDryRun = true }
    if invocation.cache != nil, !invocation.usesCache {
      throw Complaint("\(Flag.cache.spelled) and \(Flag.noCache.spelled) make no sense together")
    }
    if invocation.isDryRun {
      let flags = [(invocation.junitFile, Flag.junit), (invocation.notifyCommand, Flag.notify)]
      for case (_?, let flag) in flags {
        throw Complaint("\(flag.spelled) is for a run, and --dry-run does not run anything")
      }
    }
    if !invocation.capacities.isEmpty, !invocation.isDryRun {
      throw Complaint(
        "\(Flag.maxParallel.spelled) takes one number; `opflow plan` compares several")
    }
    if invocation.command == .resume { return }
    try checkArguments(invocation)
    if invocation.watchesFiles, invocation.isDryRun {
      throw Complaint("--watch is for a run, and --dry-run does not run anything")
    }
    if invocation.watchesFiles, invocation.file == "-" {
      throw Complaint("--watch: a manifest from standard input does not change")
    }
  }
}
