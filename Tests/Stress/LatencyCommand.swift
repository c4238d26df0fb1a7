import Drill

/// `latency PROGRAM COUNT FOLDER`: measures the latency of COUNT requests on an idle computer and
/// at 80 percent of its throughput.
struct LatencyCommand {
  private let latency: RequestLatency

  /// The share of the computer's throughput.
  private static let load = 0.8

  init?(_ arguments: [String]) {
    guard arguments.count == 3, let count = Int(arguments[1]), count > 0 else { return nil }
    latency = RequestLatency(program: arguments[0], requests: count, parent: arguments[2])
  }

  func run() -> Int32 {
    do {
      tell("idle", try latency.measure(rate: 0))
      let most = try latency.mostRate()
      print("the machine ends \(Int(most)) tasks a second")
      // The first measurement shows a task's overhead, which corrects the second.
      let first = try latency.measure(rate: most * Self.load)
      let busy = try latency.measure(
        rate: most * Self.load * min(2, most * Self.load / max(1, first.rate)))
      print("meanwhile it ends \(Int(busy.rate)), which is \(Int(busy.rate * 100 / most)) percent")
      tell("busy", busy)
      return 0
    } catch {
      print("\(error)")
      return 1
    }
  }

  private func tell(_ name: String, _ times: RequestLatency.Times) {
    for (detail, sorted) in [("answer", times.answers), ("effect", times.effects)] {
      let (median, late) = (sorted[sorted.count / 2], sorted[sorted.count * 95 / 100])
      let last = sorted.last ?? 0
      print(
        "\(name) \(detail): median \(text(median)) ms, 95 percent within \(text(late)) ms, last"
          + " \(text(last)) ms")
    }
  }

  private func text(_ milliseconds: Double) -> String {
    "\((milliseconds * 100).rounded() / 100)"
  }
}
