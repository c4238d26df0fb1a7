import Foundation
import Glibc

/// Kills a program that uses the library (`Tests/DrillHost`), its server and workers at random
/// moments, and restarts it until its queue is closed. Acknowledged tasks must exist, finished
/// tasks must not run again, and no process may survive.
package struct HostDrill {
  private let host: String
  private let taskCount: Int
  private let mode: String
  private let folder: String
  private let mark = UUID().uuidString
  private var random: DrillNumbers
  private var added: Set<String> = []

  /// Kills of clients, servers and workers.
  package private(set) var kills = (hosts: 0, servers: 0, workers: 0)
  package private(set) var lives = 0

  package var killCount: Int { kills.hosts + kills.servers + kills.workers }

  /// - Parameters:
  ///   - host: the client program, which finds `opflow` in its own folder.
  ///   - parent: the parent of the drill's folder.
  package init(host: String, seed: UInt64, taskCount: Int, parent: String) throws {
    self.host = host
    self.taskCount = taskCount
    random = DrillNumbers(seed: seed)
    mode = random.chance(50) ? "stop" : "go-on"
    folder = parent + "/opflow-host-" + mark
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true)
  }

  /// Kills at most `limit` times until the queue is closed. Removes the folder unless an error is
  /// found.
  package mutating func run(killing limit: Int) throws {
    while try !live(killing: limit) {}
    try checkJournals()
    let left = MarkedProcess.waitForNone(mark: mark, in: folder, milliseconds: 15_000)
    if !left.isEmpty { throw finding("left alive: \(left.map(\.command))") }
    try FileManager.default.removeItem(atPath: folder)
  }

  /// Returns true if the program has ended on its own.
  private mutating func live(killing limit: Int) throws -> Bool {
    lives += 1
    let program = try Victim(host, ["\(taskCount)", mode], folder: folder, mark: mark)
    var isKilled = false
    while killCount < limit, !isKilled {
      if program.end(withinMilliseconds: random.below(400)) != nil { break }
      isKilled = strike(program)
    }
    guard let status = program.end(withinMilliseconds: 120_000) else {
      throw finding("the program does not end")
    }
    let output = FileManager.default.contents(atPath: folder + "/last.out") ?? Data()
    let lines = String(decoding: output, as: UTF8.self).split(separator: "\n")
    for line in lines where line.hasPrefix("added ") { added.insert(String(line.dropFirst(6))) }
    if mode == "stop", isKilled {
      // Its processes end with it.
      let left = MarkedProcess.waitForNone(mark: mark, in: folder, milliseconds: 15_000)
      if !left.isEmpty { throw finding("left alive with no program: \(left.map(\.command))") }
    }
    if lines.contains("closed") { return true }
    if isKilled { return false }
    // With a killed server, the program continues with another one, but a pending call may fail.
    guard status == 0 || kills.servers > 0 else { throw finding("it ended with \(status)") }
    return false
  }

  /// Returns whether the program itself is dead.
  private mutating func strike(_ program: Victim) -> Bool {
    let processes = MarkedProcess.all(mark: mark, in: folder).filter { $0.pid != program.pid }
    switch random.below(100) {
    case 0..<35:
      kill(program.pid, SIGKILL)
      kills.hosts += 1
      return true
    case 35..<60:
      guard let server = processes.first(where: { $0.command.contains(" serve ") }) else { break }
      kill(server.pid, SIGKILL)
      kills.servers += 1
      // Both at the same time.
      if random.chance(30) {
        kill(program.pid, SIGKILL)
        kills.hosts += 1
        return true
      }
    default:
      let workers = processes.filter(\.isWorker)
      if workers.isEmpty { break }
      kill(workers[random.below(workers.count)].pid, SIGKILL)
      kills.workers += 1
    }
    return false
  }

  private func checkJournals() throws {
    let runs = folder + "/.opflow/runs"
    let names = try FileManager.default.contentsOfDirectory(atPath: runs).sorted()
    // A kill right after the queue was closed makes the next program start from scratch.
    for name in names {
      let data = FileManager.default.contents(atPath: "\(runs)/\(name)/journal.log") ?? Data()
      let proof = JournalProof([UInt8](data))
      if proof.damagedLines > 0 { throw finding("\(proof.damagedLines) damaged lines") }
      let text = String(decoding: data, as: UTF8.self)
      var done: Set<Substring> = []
      for line in text.split(separator: "\n") {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
        guard fields.count > 4, !fields[4].isEmpty else { continue }
        if fields[3] == "start", done.contains(fields[4]) {
          throw finding("\(fields[4]) began again though it had succeeded")
        }
        if fields[3] == "success", !done.insert(fields[4]).inserted {
          throw finding("\(fields[4]) succeeded twice")
        }
      }
      if !proof.failures.isEmpty { throw finding("failed: \(proof.failures)") }
      if name == names.last, proof.successes.count != taskCount {
        throw finding("\(proof.successes.count) of \(taskCount) are done")
      }
      if names.count == 1, !added.isSubset(of: proof.successes) {
        throw finding("added and gone: \(added.subtracting(proof.successes))")
      }
    }
  }

  private func finding(_ text: String) -> DrillFinding {
    let output = FileManager.default.contents(atPath: folder + "/last.out") ?? Data()
    return DrillFinding(
      "life \(lives): \(text)\n\(folder)\n" + String(decoding: output, as: UTF8.self).suffix(4000))
  }
}
