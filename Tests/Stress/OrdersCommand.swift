import Drill

/// `orders PROGRAM COUNT SEED FOLDER`: asks runs of the program so many times for anything.
struct OrdersCommand {
  private let rounds: DrillRounds

  private static let ordersOfRun = 2000

  init?(_ arguments: [String]) {
    guard let rounds = DrillRounds(arguments) else { return nil }
    self.rounds = rounds
  }

  func run() -> Int32 {
    var obeyed = 0
    let isClean = rounds.run(replay: "orders \(Self.ordersOfRun)") { seed, left in
      let orders = min(left, Self.ordersOfRun)
      var drill = try OrderDrill(
        program: rounds.program, seed: seed, tasks: 5000, orders: orders, parent: rounds.folder)
      try drill.run()
      obeyed += drill.obeyed
      return (orders, "\(orders) orders, \(drill.obeyed) of them obeyed, \(drill.kills) kills")
    }
    guard isClean else { return 1 }
    print("\(obeyed) orders obeyed: nothing found")
    return 0
  }
}
