import Foundation
import Glibc

/// Runs of tests against a database (`jobs/integration.yaml`), killed at random moments like the
/// database, and resumed until they are complete. No process or socket may survive, and finished
/// tasks must not run again.
package struct ServiceDrill {
  private let program: String
  private let project: ServiceProject
  private let mark = UUID().uuidString
  private var random: DrillNumbers
  private var strikes: Strikes
  private var proven: Set<String> = []
  private var attempts = 0
  /// The database was killed in this session, so its users may have failed.
  private var killedServer = false

  package private(set) var kills = 0
  package private(set) var serverKills = 0
  package private(set) var sessions = 0

  /// - Parameters:
  ///   - program: the `opflow` to run.
  ///   - jobs: the folder with the manifest.
  ///   - parent: the parent of the drill's folder.
  package init(program: String, seed: UInt64, jobs: String, parent: String) throws {
    self.program = program
    random = DrillNumbers(seed: seed)
    strikes = Strikes(mark: mark)
    project = try ServiceProject(folder: parent + "/opflow-services-" + mark, jobs: jobs)
  }

  /// True if PostgreSQL is installed.
  package static var isPossible: Bool { ServiceProject.hasDatabase }

  /// Kills at most `limit` times and resumes until the run is complete. Removes the folder unless
  /// an error is found.
  package mutating func run(killing limit: Int) throws {
    var isWhole = false
    while !isWhole { isWhole = try session(mayKill: kills < limit) }
    if let fault = project.fault(proven: proven) { throw finding(fault) }
    try FileManager.default.removeItem(atPath: project.folder)
  }

  /// Returns true if the run is complete.
  private mutating func session(mayKill: Bool) throws -> Bool {
    sessions += 1
    strikes.begin()
    killedServer = false
    let isResume = JournalProof.newestPath(in: project.folder) != nil
    let victim = try Victim(
      program, [isResume ? "resume" : "run", "-j", "4", "--output", "line"],
      folder: project.folder, mark: mark)
    var sent: Int32 = 0
    // Starting the database takes longer than most tests; kills must hit both.
    let patience = isResume ? [300, 1500][random.below(2)] : [400, 1500, 3000][random.below(3)]
    if mayKill, random.chance(40) { strikeServer(victim) }
    while mayKill, sent == 0 {
      if victim.end(withinMilliseconds: random.below(patience)) != nil { break }
      sent = strikes.strike(victim, &random)
      kills += 1
    }
    guard let status = victim.end(withinMilliseconds: 120_000) else {
      throw finding("it does not end after signal \(sent)")
    }
    try checkStatus(status, after: sent)
    try checkSurvivors()
    try checkJournal()
    return status == 0
  }

  /// Kills the database's main process a while after its start, unless the run ends first.
  private mutating func strikeServer(_ victim: Victim) {
    while project.server == nil { if victim.end(withinMilliseconds: 10) != nil { return } }
    if victim.end(withinMilliseconds: random.below(500)) != nil { return }
    guard let pid = project.server, kill(pid, SIGKILL) == 0 else { return }
    killedServer = true
    kills += 1
    serverKills += 1
  }

  // MARK: - Checks

  private func checkStatus(_ status: Int32, after signal: Int32) throws {
    if let fault = strikes.fault(ofStatus: status, after: signal, mayFail: killedServer) {
      throw finding(fault)
    }
  }

  private func checkSurvivors() throws {
    // The next session ends orphans.
    if strikes.mayHaveOrphans { return }
    if let survivors = strikes.survivors(in: project.folder) { throw finding(survivors) }
    if let port = project.ports.first(where: { ServiceProject.databaseAnswers(on: $0) }) {
      throw finding("a database still listens on port \(port)")
    }
  }

  private mutating func checkJournal() throws {
    let lines = project.attempts
    let again = Set(lines.dropFirst(attempts)).intersection(proven)
    if !again.isEmpty { throw finding("ran again though proven: \(again.sorted())") }
    attempts = lines.count
    guard let path = JournalProof.newestPath(in: project.folder),
      let data = FileManager.default.contents(atPath: path)
    else { return }
    let proof = JournalProof([UInt8](data))
    if proof.damagedLines > 0 {
      throw finding("\(proof.damagedLines) damaged lines in the journal")
    }
    // A service has no result.
    let now = proof.successes.subtracting(["db"])
    let lost = proven.subtracting(now)
    if !lost.isEmpty { throw finding("proven, and not any more: \(lost.sorted())") }
    proven = now
  }

  private func finding(_ text: String) -> DrillFinding {
    let output = FileManager.default.contents(atPath: project.folder + "/last.out") ?? Data()
    return DrillFinding(
      "drive \(sessions): \(text)\n\(project.folder)\n"
        + String(decoding: output, as: UTF8.self).suffix(4000))
  }
}
