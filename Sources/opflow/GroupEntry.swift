internal import OpflowBase
import OpflowCommandLine
internal import OpflowPlan
import OpflowRuntime

/// Enters a concurrency group and reports the runs that it waits for.
struct GroupEntry: ~Copyable {
  private let gate: RunGroupGate
  /// State read before the wait may be outdated.
  let hasWaited: Bool

  init(_ group: RunGroup, but own: RunID? = nil) throws(CommandError) {
    var hasWaited = false
    gate = try RunLookup.reading { () throws(RunFolderError) in
      try group.enter(but: own) { obstacle in
        hasWaited = true
        Console.complain("opflow: waiting for \(Self.text(obstacle, group))\n")
      }
    }
    self.hasWaited = hasWaited
  }

  consuming func takeGate() -> RunGroupGate { gate }

  private static func text(_ obstacle: RunGroup.Obstacle, _ group: RunGroup) -> String {
    switch obstacle {
    case .run(let member):
      let process = member.holder.map { " (\($0))" } ?? ""
      return CleanText.string("run \(member.folder.id) \(group.title)\(process)")
    case .queue(let holder):
      let process = holder?.description ?? "another process"
      return CleanText.string("\(process), which waits for a run \(group.title)")
    }
  }
}
