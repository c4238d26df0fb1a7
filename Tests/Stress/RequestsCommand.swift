import Drill

/// `requests PROGRAM COUNT SEED FOLDER`: sends COUNT random requests to runs.
struct RequestsCommand {
  private let rounds: DrillRounds

  private static let requestsOfRun = 2000

  init?(_ arguments: [String]) {
    guard let rounds = DrillRounds(arguments) else { return nil }
    self.rounds = rounds
  }

  func run() -> Int32 {
    var obeyed = 0
    let isClean = rounds.run(replay: "requests \(Self.requestsOfRun)") { seed, left in
      let requests = min(left, Self.requestsOfRun)
      var drill = try RequestDrill(
        program: rounds.program, seed: seed, tasks: 5000, requests: requests, parent: rounds.folder)
      try drill.run()
      obeyed += drill.obeyed
      return (
        requests, "\(requests) requests, \(drill.obeyed) of them obeyed, \(drill.kills) kills"
      )
    }
    guard isClean else { return 1 }
    print("\(obeyed) requests obeyed: nothing found")
    return 0
  }
}
