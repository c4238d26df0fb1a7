import Drill

/// `kill PROGRAM COUNT SEED FOLDER`: kills runs COUNT times.
struct KillCommand {
  private let rounds: DrillRounds

  init?(_ arguments: [String]) {
    guard let rounds = DrillRounds(arguments) else { return nil }
    self.rounds = rounds
  }

  func run() -> Int32 {
    var kills = 0
    var recoveryKills = 0
    let isClean = rounds.run(replay: "kill 40") { seed, left in
      var drill = try KillDrill(
        program: rounds.program, seed: seed, tasks: 200, parent: rounds.folder)
      try drill.run(killing: min(left, 40))
      kills += drill.kills
      recoveryKills += drill.recoveryKills
      return (drill.kills, "\(drill.kills) kills, \(drill.sessions) sessions")
    }
    guard isClean else { return 1 }
    print("\(kills) kills, \(recoveryKills) of them during recovery: nothing found")
    return 0
  }
}
