import Drill

/// `fresh PROGRAM COUNT SEED FOLDER`: kills COUNT runs of projects whose files change.
struct FreshCommand {
  private let rounds: DrillRounds

  init?(_ arguments: [String]) {
    guard let rounds = DrillRounds(arguments) else { return nil }
    self.rounds = rounds
  }

  func run() -> Int32 {
    var (kills, looks, restores) = (0, 0, 0)
    let isClean = rounds.run(replay: "fresh 30") { seed, left in
      var drill = try FreshDrill(
        program: rounds.program, seed: seed, sources: 24, parent: rounds.folder)
      try drill.run(killing: min(left, 30))
      kills += drill.kills
      looks += drill.looks
      restores += drill.restores
      return (drill.kills, "\(drill.kills) kills, \(drill.sessions) sessions, \(drill.looks) looks")
    }
    guard isClean else { return 1 }
    print(
      """
      \(kills) kills, \(looks) looks at all outputs, \(restores) results from caches: nothing found
      """
    )
    return 0
  }
}
