import Drill

/// `grow PROGRAM COUNT SEED FOLDER`: kills growing runs COUNT times.
struct GrowCommand {
  private let rounds: DrillRounds

  init?(_ arguments: [String]) {
    guard let rounds = DrillRounds(arguments) else { return nil }
    self.rounds = rounds
  }

  func run() -> Int32 {
    var (kills, near, batches, runs) = (0, 0, 0, 0)
    let isClean = rounds.run(replay: "grow 20") { seed, left in
      var drill = try GrowDrill(
        program: rounds.program, seed: seed, tasks: 80, parent: rounds.folder)
      try drill.run(killing: min(left, 20))
      kills += drill.kills
      near += drill.killsNearAdding
      batches += drill.added.batches
      runs += drill.added.runs
      return (
        drill.kills,
        "\(drill.kills) kills, \(drill.sessions) sessions, \(drill.added.batches) batches,"
          + " \(drill.added.runs) runs"
      )
    }
    guard isClean else { return 1 }
    print(
      """
      \(kills) kills, \(near) of them near an adding, \(batches) batches added, \(runs) runs: \
      nothing found
      """
    )
    return 0
  }
}
