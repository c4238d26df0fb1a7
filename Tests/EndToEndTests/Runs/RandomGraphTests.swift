import Drill
import Testing

/// Graphs of which only the seed is known: what must hold for each of them.
struct RandomGraphTests {
  private struct Graph {
    var needs: [[Int]] = []
    var fails: Set<Int> = []

    init(seed: UInt64, tasks: Int) {
      var numbers = DrillNumbers(seed: seed)
      for index in 0..<tasks {
        let count = index == 0 ? 0 : Int.random(in: 0...min(3, index), using: &numbers)
        needs.append((0..<count).map { _ in Int.random(in: 0..<index, using: &numbers) })
        if Int.random(in: 0..<20, using: &numbers) == 0 { fails.insert(index) }
      }
    }

    /// The tasks that run with `--keep-going`: those without a failed dependency, also indirect.
    var running: Set<Int> {
      var result: Set<Int> = []
      for index in needs.indices {
        if needs[index].allSatisfy({ result.contains($0) && !fails.contains($0) }) {
          result.insert(index)
        }
      }
      return result
    }

    /// Needs of a task stand without repetition, tasks in an order that is not that of the graph.
    func manifest(seed: UInt64) -> String {
      var numbers = DrillNumbers(seed: seed ^ 0xFFFF)
      var text = "max_parallel: 5\ntasks:\n"
      for index in needs.indices.shuffled(using: &numbers) {
        let names = Set(needs[index]).sorted().map { "t\($0)" }.joined(separator: ", ")
        let priority = Int.random(in: -10...10, using: &numbers)
        let end = fails.contains(index) ? "exit 1" : ":"
        text += "  t\(index): { needs: [\(names)], priority: \(priority), "
        text += "run: \"echo + \(index) >> trace; echo - \(index) >> trace; \(end)\" }\n"
      }
      return text
    }
  }

  @Test(arguments: 1...8)
  func `tasks start after what they need, and failures spread no further than they must`(
    seed: UInt64
  ) throws {
    let graph = Graph(seed: seed, tasks: 60)
    let place = try Workplace(graph.manifest(seed: seed))
    try place.opflow("run", "-k", "-q", status: graph.fails.isEmpty ? 0 : 1)
    var ended: Set<Int> = []
    var started: Set<Int> = []
    for line in place.lines() {
      let index = try #require(Int(line.dropFirst(2)))
      if line.hasPrefix("+") {
        #expect(started.insert(index).inserted, "t\(index) ran twice")
        #expect(graph.needs[index].allSatisfy { ended.contains($0) && !graph.fails.contains($0) })
      } else {
        ended.insert(index)
      }
    }
    #expect(started == graph.running)
    let status = try place.status()
    for (index, _) in graph.needs.enumerated() {
      let state = status["t\(index)"]?.state
      let expected =
        !graph.running.contains(index)
        ? "skipped" : graph.fails.contains(index) ? "failed" : "succeeded"
      #expect(state == expected, "t\(index)")
    }
  }

  @Test(arguments: 1...4)
  func `killed at random moments and resumed, each journaled success ran once`(seed: UInt64) throws
  {
    var graph = Graph(seed: seed &* 77, tasks: 60)
    graph.fails = []
    var numbers = DrillNumbers(seed: seed)
    let place = try Workplace(graph.manifest(seed: seed))
    var status: Int32 = -9
    var sessions = 0
    while status != 0 && sessions < 40 {
      sessions += 1
      let before = Set(
        place.runs.isEmpty ? [] : try place.journal().filter { $0.event == "success" }.map(\.task))
      let had = place.lines().count
      let live = try place.start("run", "--resume", "--output", "line")
      // After a random number of lines; the last sessions are not killed.
      let patience = sessions < 20 ? Int.random(in: 1...25, using: &numbers) : Int.max
      if try live.waitForErrorLines(patience) { live.send(9) }
      let run = try live.finish()
      status = run.status
      #expect(status == 0 || status == -9, "\(run)")
      place.expectNothingAlive()
      // Killed after its last line, it had succeeded: another `run --resume` would start a new run.
      if try place.status().state == "succeeded" { status = 0 }
      let ran = Set(place.lines().dropFirst(had).map { "t" + $0.dropFirst(2) })
      #expect(ran.isDisjoint(with: before))
    }
    #expect(status == 0)
    #expect(try place.status().counts["succeeded"] == 60)
  }
}
