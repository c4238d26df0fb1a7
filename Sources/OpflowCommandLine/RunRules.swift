/// What holds between the flags of `run`, `resume` and `plan`.
enum RunRules {
  static func check(_ invocation: inout Invocation) throws(Complaint) {
    if invocation.command == .plan { invocation.isDryRun = true }
    if !invocation.capacities.isEmpty, !invocation.isDryRun {
      throw Complaint(
        "\(Flag.maxParallel.spelled) takes one number; `opflow plan` compares several")
    }
    if invocation.command == .resume { return }
    if !invocation.rerun.isEmpty, !invocation.resumesNewest {
      throw Complaint(
        "--rerun is for a run that is there: `opflow resume --rerun SEL`, or add --resume;"
          + " a new run runs all its tasks")
    }
  }
}
