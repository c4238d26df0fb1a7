import Foundation
import Glibc

/// Runs that are killed at random moments, with journals torn in between, and resumed until they
/// are complete. A log that the tasks write shows whether proven tasks ran again.
package struct KillDrill {
  private let program: String
  private let manifest: DrillManifest
  private let folder: String
  private let mark = UUID().uuidString
  private var random: DrillNumbers
  private var proven: Set<String> = []
  private var attempts = 0
  private var strikes: Strikes

  package private(set) var kills = 0
  package private(set) var recoveryKills = 0
  package private(set) var sessions = 0

  /// - Parameters:
  ///   - program: the `opflow` to run.
  ///   - parent: the parent of the drill's folder.
  package init(program: String, seed: UInt64, tasks: Int, parent: String) throws {
    self.program = program
    random = DrillNumbers(seed: seed)
    strikes = Strikes(mark: mark)
    manifest = DrillManifest(tasks: tasks, &random)
    folder = parent + "/opflow-drill-" + mark
    try FileManager.default.createDirectory(
      atPath: folder + "/out", withIntermediateDirectories: true)
    try manifest.text.write(toFile: folder + "/opflow.yaml", atomically: false, encoding: .utf8)
  }

  /// Kills at most `limit` times and resumes until the run is complete. Removes the folder unless
  /// an error is found.
  package mutating func run(killing limit: Int) throws {
    var isWhole = false
    while !isWhole { isWhole = try session(mayKill: kills < limit) }
    try checkResults()
    try FileManager.default.removeItem(atPath: folder)
  }

  /// Returns true if the run is complete.
  private mutating func session(mayKill: Bool) throws -> Bool {
    sessions += 1
    strikes.begin()
    let isResume = journalPath != nil
    let victim = try Victim(
      program,
      isResume ? ["resume", "--output", "quiet"] + durability : ["run", "--output", "quiet"],
      folder: folder, mark: mark)
    let hurries = isResume && random.chance(20)
    // Long enough for a slow computer, and often short enough for a fast one.
    let patience = [50, 400][random.below(2)]
    var sent: Int32 = 0
    while mayKill, sent == 0 {
      if victim.end(withinMilliseconds: random.below(hurries ? 12 : patience)) != nil {
        break
      }
      sent = strikes.strike(victim, &random)
      kills += 1
      if hurries { recoveryKills += 1 }
    }
    guard let status = victim.end(withinMilliseconds: 120_000) else {
      throw finding("it does not end after signal \(sent)")
    }
    try checkStatus(status, after: sent)
    try checkSurvivors()
    try checkJournal(ended: status)
    if status == 0 { return true }
    if status == -SIGKILL { try tear() }
    return false
  }

  private var durability: [String] {
    mutating get { ["--durability", ["none", "group", "each"][random.below(3)]] }
  }

  // MARK: - Checks

  private func checkStatus(_ status: Int32, after signal: Int32) throws {
    if let fault = strikes.fault(ofStatus: status, after: signal) { throw finding(fault) }
  }

  private mutating func checkSurvivors() throws {
    if let survivors = strikes.survivors() { throw finding(survivors) }
  }

  private mutating func checkJournal(ended status: Int32) throws {
    let lines = readAttempts()
    let again = Set(lines.dropFirst(attempts)).intersection(proven)
    if !again.isEmpty { throw finding("ran again though proven: \(again.sorted())") }
    attempts = lines.count
    guard let path = journalPath, let data = FileManager.default.contents(atPath: path) else {
      return
    }
    let proof = JournalProof([UInt8](data))
    if proof.damagedLines > 0 {
      throw finding("\(proof.damagedLines) damaged lines in the journal")
    }
    if status != -SIGKILL, status >= 0, !proof.isClosed, proof.firstLineEnd > 0 {
      throw finding("it ended with \(status) and did not close the journal")
    }
    let lost = proven.subtracting(proof.successes)
    if !lost.isEmpty { throw finding("proven, and not any more: \(lost.sorted())") }
    proven = proof.successes
    for name in proven where !FileManager.default.fileExists(atPath: "\(folder)/out/\(name)") {
      throw finding("\(name) is journaled as a success and left no result")
    }
  }

  private func readAttempts() -> [String] {
    guard let data = FileManager.default.contents(atPath: folder + "/attempts") else { return [] }
    return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// Tears the journal's end like a loss of power.
  private mutating func tear() throws {
    guard random.chance(40), let path = journalPath,
      var data = FileManager.default.contents(atPath: path)
    else { return }
    let first = JournalProof([UInt8](data)).firstLineEnd
    guard first > 0 else { return }
    data.removeLast(random.below(min(300, data.count - first) + 1))
    if random.chance(25) {
      data.append(contentsOf: [UInt8](repeating: 0, count: random.below(600)))
    }
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    defer { try? handle.close() }
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: data)
    proven = JournalProof([UInt8](data)).successes
  }

  private func checkResults() throws {
    for (index, expected) in manifest.results().enumerated() {
      let found = FileManager.default.contents(atPath: "\(folder)/out/t\(index)")
      if found != Data(expected.utf8) {
        throw finding("t\(index) has another result than its needs give")
      }
    }
    let missing = Set((0..<manifest.count).map { "t\($0)" }).subtracting(proven)
    if !missing.isEmpty { throw finding("the run is whole without \(missing.sorted())") }
  }

  /// The run's journal; a run that died before its first write has none.
  private var journalPath: String? { JournalProof.newestPath(in: folder) }

  private func finding(_ text: String) -> DrillFinding {
    let output = FileManager.default.contents(atPath: folder + "/last.out") ?? Data()
    return DrillFinding(
      "drive \(sessions): \(text)\n\(folder)\n"
        + String(decoding: output, as: UTF8.self).suffix(2000)
    )
  }
}
