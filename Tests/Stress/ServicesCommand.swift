import Drill

/// `services PROGRAM COUNT SEED FOLDER JOBS`: kills runs of tests against a database COUNT times.
struct ServicesCommand {
  private let rounds: DrillRounds
  private let jobs: String

  init?(_ arguments: [String]) {
    guard arguments.count == 5, let rounds = DrillRounds(arguments.dropLast()) else { return nil }
    self.rounds = rounds
    jobs = arguments[4]
  }

  func run() -> Int32 {
    guard ServiceDrill.isPossible else {
      print("PostgreSQL is not there: nothing was tried")
      return 1
    }
    var (kills, serverKills, sessions) = (0, 0, 0)
    let isClean = rounds.run(replay: "services 40") { seed, left in
      var drill = try ServiceDrill(
        program: rounds.program, seed: seed, jobs: jobs, parent: rounds.folder)
      try drill.run(killing: min(left, 40))
      kills += drill.kills
      serverKills += drill.serverKills
      sessions += drill.sessions
      return (drill.kills, "\(drill.kills) kills, \(drill.sessions) sessions")
    }
    guard isClean else { return 1 }
    print(
      "\(kills) kills, \(serverKills) of them of the database, in \(sessions) sessions: "
        + "nothing found"
    )
    return 0
  }
}
