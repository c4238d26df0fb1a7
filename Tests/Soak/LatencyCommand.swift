import Drill

/// `latency PROGRAM COUNT FOLDER`: how long so many orders take, on an idle machine and at 80 percent of
/// the dispatch that it can do.
struct LatencyCommand {
  private let latency: OrderLatency

  init?(_ arguments: [String]) {
    guard arguments.count == 3, let count = Int(arguments[1]), count > 0 else { return nil }
    latency = OrderLatency(program: arguments[0], orders: count, parent: arguments[2])
  }

  func run() -> Int32 {
    do {
      tell("idle", try latency.measure(rate: 0))
      let most = try latency.mostRate()
      print("the machine ends \(Int(most)) tasks a second")
      let busy = try latency.measure(rate: most * 0.8)
      print("meanwhile it ends \(Int(busy.rate)), which is \(Int(busy.rate * 100 / most)) percent")
      tell("busy", busy)
      return 0
    } catch {
      print("\(error)")
      return 1
    }
  }

  private func tell(_ name: String, _ times: OrderLatency.Times) {
    for (what, sorted) in [("answer", times.answers), ("effect", times.effects)] {
      let (median, late) = (sorted[sorted.count / 2], sorted[sorted.count * 95 / 100])
      let last = sorted.last ?? 0
      print(
        "\(name) \(what): median \(text(median)) ms, 95 percent within \(text(late)) ms, last"
          + " \(text(last)) ms")
    }
  }

  private func text(_ milliseconds: Double) -> String {
    "\((milliseconds * 100).rounded() / 100)"
  }
}
