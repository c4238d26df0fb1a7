import OpflowCommandLine
import OpflowCore
import OpflowRuntime

/// Comes into a group of runs, and tells whom it waits for.
struct GroupEntry: ~Copyable {
  private let gate: RunGroupGate
  /// Others were waited for: what was read before may have changed.
  let hasWaited: Bool

  /// - Parameter own: the run that is to be live, where it is there.
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
