import Drill

/// `hosts HOST COUNT SEED FOLDER`: kills a client program, its server and its workers COUNT times.
struct HostsCommand {
  private let rounds: DrillRounds

  init?(_ arguments: [String]) {
    guard let rounds = DrillRounds(arguments) else { return nil }
    self.rounds = rounds
  }

  func run() -> Int32 {
    var kills = (hosts: 0, servers: 0, workers: 0)
    let isClean = rounds.run(replay: "hosts 20") { seed, left in
      var drill = try HostDrill(
        host: rounds.program, seed: seed, taskCount: 60, parent: rounds.folder)
      try drill.run(killing: min(left, 20))
      kills.hosts += drill.kills.hosts
      kills.servers += drill.kills.servers
      kills.workers += drill.kills.workers
      return (drill.killCount, "\(drill.killCount) kills, \(drill.lives) lives")
    }
    guard isClean else { return 1 }
    print(
      "\(kills.hosts) programs, \(kills.servers) servers and \(kills.workers) workers killed:"
        + " nothing found")
    return 0
  }
}
