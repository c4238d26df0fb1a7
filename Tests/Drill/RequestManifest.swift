/// A graph of short tasks, some of which always fail or need approval, and its expected ends,
/// computed without a run.
struct RequestManifest {
  enum Kind { case runs, fails, asks }

  private(set) var needs: [[Int]] = []
  private(set) var kinds: [Kind] = []
  private var sleeps: [Int] = []
  private var wantsPlace: [Bool] = []

  init(tasks: Int, _ random: inout DrillNumbers) {
    for index in 0..<tasks {
      let count = index == 0 ? 0 : [0, 0, 1, 1, 2, 3][random.below(6)]
      let first = max(0, index - 40)
      needs.append(Set((0..<count).map { _ in first + random.below(index - first) }).sorted())
      kinds.append(
        random.below(100) == 0 ? .fails : random.below(60) == 0 ? .asks : .runs)
      sleeps.append([0, 0, 1, 1, 5, 20, 60][random.below(7)])
      wantsPlace.append(random.below(10) == 0)
    }
  }

  var count: Int { needs.count }

  /// Each attempt writes a line at its beginning and one at its end, each in one write.
  var text: String {
    var text = "max_parallel: 8\nmax_failures: 0\nresources: { db: 3 }\ntasks:\n"
    for (index, list) in needs.enumerated() {
      text += "  t\(index):\n    needs: [\(list.map { "t\($0)" }.joined(separator: ", "))]\n"
      switch kinds[index] {
      case .asks: text += "    approve: \"May t\(index)?\"\n"
      case .runs, .fails:
        let sleep =
          sleeps[index] == 0 ? "" : "sleep 0.0\(sleeps[index] < 10 ? "0" : "")\(sleeps[index]); "
        text +=
          "    run: 'echo \"s t\(index) $$\" >> tries; \(sleep)echo \"e t\(index) $$\" >> tries"
        text += kinds[index] == .fails ? "; exit 3'\n" : "'\n"
        if wantsPlace[index] { text += "    resources: { db: 1 }\n" }
      }
    }
    return text
  }

  /// Returns the final states of all tasks once all failures are final and all approvals are
  /// granted.
  ///
  /// - Parameter skipped: tasks that a request skipped.
  func ends(skipped: Set<Int>) -> [String] {
    var ends: [String] = []
    var lacks: [Bool] = []
    for (index, list) in needs.enumerated() {
      let isSkipped = skipped.contains(index)
      let lacksNeed = !isSkipped && list.contains { ends[$0] == "failed" || lacks[$0] }
      lacks.append(lacksNeed)
      ends.append(
        isSkipped || lacksNeed ? "skipped" : kinds[index] == .fails ? "failed" : "succeeded")
    }
    return ends
  }
}
