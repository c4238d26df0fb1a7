import Foundation
import Glibc

/// Runs that grow by generators, by requests and by nested runs, killed at random moments and near
/// each addition, and resumed until they are complete. Results must match an undisturbed run, and
/// proven tasks must not run again.
package struct GrowDrill {
  private let program: String
  private let project: GrownRuns
  private let folder: String
  private let mark = UUID().uuidString
  private var random: DrillNumbers
  private var strikes: Strikes
  private var judge: GrowJudge
  /// The number of added outside batches.
  private var fed = 0
  private var isClosed = false
  /// The number of failed requests in a row.
  private var refusals = 0

  package private(set) var kills = 0
  package private(set) var killsNearAdding = 0
  package private(set) var sessions = 0
  /// The number of added batches, and of runs.
  package var added: (batches: Int, runs: Int) {
    (project.batches.count - project.firsts.count, project.firsts.count)
  }

  private static let name = "q"

  /// - Parameters:
  ///   - program: the `opflow` to run.
  ///   - tasks: the approximate number of tasks.
  ///   - parent: the parent of the drill's folder.
  package init(program: String, seed: UInt64, tasks: Int, parent: String) throws {
    self.program = program
    random = DrillNumbers(seed: seed)
    strikes = Strikes(mark: mark, program: program)
    project = GrownRuns(
      program: program, tasks: tasks, isServed: random.chance(50), &random)
    folder = parent + "/opflow-grow-" + mark
    judge = GrowJudge(program: program, project: project, folder: folder, mark: mark)
    try FileManager.default.createDirectory(
      atPath: folder + "/out", withIntermediateDirectories: true)
    for batch in project.batches.indices {
      try project.text(ofBatch: batch).write(
        toFile: "\(folder)/\(project.fileName(ofBatch: batch))", atomically: false, encoding: .utf8)
    }
  }

  /// Kills at most `limit` times and resumes until the run is complete. Removes the folder unless
  /// an error is found.
  package mutating func run(killing limit: Int) throws {
    do {
      var isWhole = false
      while !isWhole { isWhole = try session(killing: limit) }
      try judge.checkResults()
    } catch let fault as DrillFinding {
      let output = FileManager.default.contents(atPath: folder + "/last.out") ?? Data()
      throw DrillFinding(
        "drive \(sessions): \(fault)\n\(folder)\n"
          + String(decoding: output, as: UTF8.self).suffix(2000))
    }
    try FileManager.default.removeItem(atPath: folder)
  }

  /// Returns true if the run is complete.
  private mutating func session(killing limit: Int) throws -> Bool {
    sessions += 1
    strikes.begin()
    let isResume = judge.hasBegun
    let victim = try Victim(program, words(isResume: isResume), folder: folder, mark: mark)
    let hurries = isResume && random.chance(20)
    var sent: Int32 = 0
    while sent == 0, victim.end(withinMilliseconds: 0) == nil {
      let mayKill = kills < limit
      if mayKill, hurries || random.chance(30) {
        // Long enough for a slow computer, and often short enough for a fast one.
        let patience = hurries ? 12 : [50, 400][random.below(2)]
        if victim.end(withinMilliseconds: random.below(patience)) != nil { break }
        sent = strike(victim)
      } else if project.isServed, !isClosed {
        sent = try ask(victim, mayKill: mayKill)
      } else if mayKill, waitForAdding(victim) {
        sent = strike(victim)
        killsNearAdding += 1
      } else if !mayKill {
        break
      }
    }
    guard let status = victim.end(withinMilliseconds: 120_000) else {
      throw DrillFinding("it does not end after signal \(sent)")
    }
    try judge.check(status, after: sent, strikes)
    return status == 0
  }

  private mutating func words(isResume: Bool) -> [String] {
    let ways = ["--output", "quiet", "--durability", ["none", "group", "each"][random.below(3)]]
    if isResume { return ["resume"] + (random.chance(50) ? [judge.outermost] : []) + ways }
    if !project.isServed { return ["run"] + ways }
    return ["serve", GrownRuns.first, "--name", Self.name] + ways
  }

  private mutating func strike(_ victim: Victim) -> Int32 {
    kills += 1
    return strikes.strike(victim, &random)
  }

  /// Waits until a task has begun an addition, and a moment longer; returns false if none does.
  private mutating func waitForAdding(_ victim: Victim) -> Bool {
    let before = addings
    for _ in 0..<300 {
      if victim.end(withinMilliseconds: 1) != nil { return false }
      if addings != before { return victim.end(withinMilliseconds: random.below(25)) == nil }
    }
    return false
  }

  private var addings: Int {
    var status = stat()
    return stat(folder + "/adding", &status) == 0 ? Int(status.st_size) : 0
  }

  /// Adds the next outside batch, or closes the run after the last one.
  private mutating func ask(_ victim: Victim, mayKill: Bool) throws -> Int32 {
    let isAll = fed == project.outside.count
    let words =
      isAll
      ? ["close", "--run", Self.name]
      : ["add", "--run", Self.name, project.fileName(ofBatch: project.outside[fed])]
    let connection = try Victim(program, words, folder: folder, mark: mark, output: "asked.out")
    var sent: Int32 = 0
    if mayKill, random.chance(35), connection.end(withinMilliseconds: random.below(30)) == nil {
      killsNearAdding += 1
      if random.chance(20) {
        kill(connection.pid, SIGKILL)
        kills += 1
      } else {
        sent = strike(victim)
      }
    }
    guard let status = connection.end(withinMilliseconds: 60_000) else {
      throw DrillFinding("`opflow \(words.joined(separator: " "))` does not end")
    }
    if status == 0 {
      refusals = 0
      if isAll { isClosed = true } else { fed += 1 }
      return sent
    }
    refusals += 1
    if refusals > 500 {
      let answer = FileManager.default.contents(atPath: folder + "/asked.out") ?? Data()
      throw DrillFinding("nothing comes of asking: " + String(decoding: answer, as: UTF8.self))
    }
    // It may become live in a moment.
    _ = victim.end(withinMilliseconds: 10)
    return sent
  }
}
