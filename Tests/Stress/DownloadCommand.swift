import Drill

/// `download PROGRAM COUNT SEED FOLDER`: disturbs downloads of 200 MB COUNT times.
struct DownloadCommand {
  private let rounds: DrillRounds

  init?(_ arguments: [String]) {
    guard let rounds = DrillRounds(arguments) else { return nil }
    self.rounds = rounds
  }

  func run() -> Int32 {
    var strikes = 0
    var repeated = 0
    let isClean = rounds.run(replay: "download 8") { seed, left in
      var drill = try DownloadDrill(
        program: rounds.program, seed: seed, megabytes: 200,
        megabytesPerSecond: 20 + Int(seed % 3) * 40, parent: rounds.folder)
      try drill.run(striking: min(left, 8))
      strikes += drill.strikes
      repeated += drill.repeatedBytes
      return (drill.strikes, "\(drill.strikes) strikes, \(drill.repeatedBytes) bytes sent twice")
    }
    guard isClean else { return 1 }
    print(
      "\(strikes) strikes, \(repeated / max(strikes, 1)) bytes sent twice for each: nothing found")
    return 0
  }
}
