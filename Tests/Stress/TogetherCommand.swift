import Drill

/// `together PROGRAM COUNT SEED FOLDER`: COUNT rounds with several live runs of one state folder.
struct TogetherCommand {
  private let rounds: DrillRounds

  init?(_ arguments: [String]) {
    guard let rounds = DrillRounds(arguments) else { return nil }
    self.rounds = rounds
  }

  func run() -> Int32 {
    var kills = 0
    let isClean = rounds.run(replay: "together 20") { seed, left in
      var drill = try TogetherDrill(
        program: rounds.program, seed: seed, tasks: 18, parent: rounds.folder)
      try drill.run(rounds: min(left, 20))
      kills += drill.kills
      return (drill.rounds, "\(drill.rounds) rounds, \(drill.kills) kills")
    }
    guard isClean else { return 1 }
    print("\(rounds.count) rounds, \(kills) kills: nothing found")
    return 0
  }
}
