import Foundation

/// Two or three live runs of one state folder, killed at random moments, with unchanged sources. No
/// task may run in two of them at once, read a half-written file, or run again after its success.
package struct TogetherDrill {
  private let program: String
  private let folder: String
  private let mark = UUID().uuidString
  private var random: DrillNumbers
  private var strikes: Strikes
  /// For each task, the earlier tasks whose outputs it reads.
  private let needs: [[Int]]
  private var edits: [Int]

  package private(set) var kills = 0
  package private(set) var rounds = 0

  /// - Parameters:
  ///   - program: the `opflow` to run.
  ///   - parent: the parent of the drill's folder.
  package init(program: String, seed: UInt64, tasks: Int, parent: String) throws {
    self.program = program
    strikes = Strikes(mark: mark)
    folder = parent + "/opflow-together-" + mark
    var numbers = DrillNumbers(seed: seed)
    needs = (0..<tasks).map { index in
      let count = index == 0 ? 0 : numbers.below(4)
      return Set((0..<count).map { _ in numbers.below(index) }).sorted()
    }
    random = numbers
    edits = [Int](repeating: 0, count: tasks)
    for part in ["src", "tmp", "busy"] {
      try FileManager.default.createDirectory(
        atPath: "\(folder)/\(part)", withIntermediateDirectories: true)
    }
    for task in needs.indices { try edit(task) }
    try manifest.write(toFile: "\(folder)/opflow.yaml", atomically: false, encoding: .utf8)
  }

  /// Runs `limit` rounds. Removes the folder unless an error is found.
  package mutating func run(rounds limit: Int) throws {
    while rounds < limit { try round() }
    try FileManager.default.removeItem(atPath: folder)
  }

  // MARK: - The project

  private func reads(_ task: Int) -> [String] { ["src/\(task)"] + needs[task].map { "out/\($0)" } }

  /// Each start and each end writes a line. A complete file ends with `end`.
  private var manifest: String {
    var text = "defaults: { retry: { max: 1000, delay: 0 } }\ntasks:\n"
    for task in needs.indices {
      let files = reads(task)
      let outputs = needs[task].map { "out/\($0)" }.joined(separator: " ")
      text += """
          t\(task):
            needs: [\(needs[task].map { "t\($0)" }.joined(separator: ", "))]
            inputs: [\(files.joined(separator: ", "))]
            outputs: [out/\(task)]
            run: |
              exec 9> busy/\(task)
              flock -n 9 || echo "t\(task) runs twice at once" >> wrong
              echo t\(task) >> begun
              echo begin > out/\(task)
              \(random(task) ? "sleep 0.03 9>&-" : ":")
              for file in \(outputs); do
                test "$(tail -n 1 $file)" = end || echo "t\(task) reads half of $file" >> wrong
              done
              cat \(files.joined(separator: " ")) > tmp/\(task)
              cksum < tmp/\(task) >> out/\(task)
              echo end >> out/\(task)
              echo t\(task) >> ended

        """
    }
    return text
  }

  private func random(_ task: Int) -> Bool { task % 3 != 1 }

  private mutating func edit(_ task: Int) throws {
    edits[task] += 1
    try source(task).write(toFile: "\(folder)/src/\(task)", atomically: true, encoding: .utf8)
  }

  private func source(_ task: Int) -> String { "source \(task), edit \(edits[task])\n" }

  /// Returns the expected output of each task, computed without a run.
  private func expected() -> [String] {
    var outputs: [String] = []
    for task in needs.indices {
      let read = source(task) + needs[task].map { outputs[$0] }.joined()
      outputs.append("begin\n\(POSIXChecksum.line(Array(read.utf8)))end\n")
    }
    return outputs
  }

  // MARK: - A round

  private mutating func round() throws {
    rounds += 1
    strikes.begin()
    for name in ["begun", "ended"] { try? FileManager.default.removeItem(atPath: path(name)) }
    for _ in 0...random.below(needs.count) { try edit(random.below(needs.count)) }
    var victims: [Victim] = []
    for number in 0..<(2 + random.below(2)) { victims.append(try start(number)) }
    let killsBefore = kills
    if random.chance(60) { try strike(victims) }
    for victim in victims {
      guard let status = victim.end(withinMilliseconds: 120_000) else {
        throw finding("a run does not end")
      }
      guard kills > killsBefore || status == 0 else { throw finding("a run ended with \(status)") }
    }
    let left = MarkedProcess.waitForNone(mark: mark, milliseconds: 20_000)
    if !left.isEmpty { throw finding("left alive: \(left.map(\.command))") }
    if let wrong = lines("wrong").first { throw finding(wrong) }
    try judge(wasKilled: kills > killsBefore)
  }

  /// Starts a run of all tasks or some, mostly without a delay.
  private mutating func start(_ number: Int) throws -> Victim {
    var words = ["run", "--output", "quiet", "-k", "-j", "\(1 + random.below(4))"]
    if random.chance(30) { words.append("t\(random.below(needs.count))") }
    let victim = try Victim(
      program, words, folder: folder, mark: mark, output: "last\(number).out")
    if random.chance(50) { _ = victim.end(withinMilliseconds: random.below(60)) }
    return victim
  }

  private mutating func strike(_ victims: [Victim]) throws {
    for victim in victims where random.chance(70) {
      if victim.end(withinMilliseconds: random.below(200)) != nil { continue }
      _ = strikes.strike(victim, &random)
      kills += 1
    }
  }

  /// Only a task that was killed between its end and its record may run again.
  private mutating func judge(wasKilled: Bool) throws {
    let ended = Dictionary(lines("ended").map { ($0, 1) }, uniquingKeysWith: +)
    if !wasKilled, let (task, count) = ended.first(where: { $0.value > 1 }) {
      throw finding("\(task) succeeded \(count) times, though nothing it reads changed")
    }
    try undisturbed()
    for (task, text) in expected().enumerated() {
      guard FileManager.default.contents(atPath: path("out/\(task)")) == Data(text.utf8) else {
        throw finding("out/\(task) is not what the sources give")
      }
    }
    let begun = lines("begun").count
    try undisturbed()
    if lines("begun").count != begun { throw finding("a task started though nothing had changed") }
  }

  private func undisturbed() throws {
    let victim = try Victim(
      program, ["run", "--output", "quiet"], folder: folder, mark: mark, output: "last0.out")
    guard victim.end(withinMilliseconds: 120_000) == 0 else {
      throw finding("undisturbed, it fails")
    }
  }

  private func path(_ name: String) -> String { "\(folder)/\(name)" }

  private func lines(_ name: String) -> [String] {
    let text = FileManager.default.contents(atPath: path(name)) ?? Data()
    return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  private func finding(_ text: String) -> DrillFinding {
    DrillFinding("round \(rounds): \(text)\n\(folder)")
  }
}
