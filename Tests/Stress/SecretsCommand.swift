import Drill

/// `secrets PROGRAM COUNT SEED FOLDER`: kills runs whose tasks print secrets COUNT times.
struct SecretsCommand {
  private let rounds: DrillRounds

  init?(_ arguments: [String]) {
    guard let rounds = DrillRounds(arguments) else { return nil }
    self.rounds = rounds
  }

  func run() -> Int32 {
    var (kills, marks) = (0, 0)
    let isClean = rounds.run(replay: "secrets 3") { seed, left in
      var drill = try SecretDrill(program: rounds.program, seed: seed, parent: rounds.folder)
      try drill.run(killing: min(left, 3))
      kills += drill.kills
      marks += drill.marks
      return (drill.kills, "\(drill.kills) kills, \(drill.sessions) sessions, \(drill.marks) marks")
    }
    guard isClean else { return 1 }
    print("\(kills) kills, \(marks) marks in logs: no secret found")
    return 0
  }
}
