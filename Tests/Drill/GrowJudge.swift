import Foundation
import Glibc

/// Checks growing runs after each session, and in the end.
struct GrowJudge {
  private let program: String
  private let project: GrownRuns
  private let folder: String
  private let mark: String
  /// Proven tasks, and the run that proves each.
  private var proven: [String: String] = [:]
  private var attempts = 0

  init(program: String, project: GrownRuns, folder: String, mark: String) {
    self.program = program
    self.project = project
    self.folder = folder
    self.mark = mark
  }

  /// True if the outermost run has a journal.
  var hasBegun: Bool { !outermost.isEmpty }

  /// The ID of the outermost run; empty if it has not begun.
  var outermost: String { GrownProof(folder: folder).newest[GrownRuns.first]?.id ?? "" }

  /// Checks the state after a session.
  mutating func check(_ status: Int32, after signal: Int32, _ strikes: Strikes) throws {
    if let fault = strikes.fault(ofStatus: status, after: signal) { throw DrillFinding(fault) }
    // Orphans may work until the next session begins.
    if strikes.mayHaveOrphans { return }
    if let survivors = strikes.survivors() { throw DrillFinding(survivors) }
    let found = GrownProof(folder: folder)
    try checkJournals(found, ended: status)
    try checkAttempts(found)
    for run in found.runs { try checkFolder(of: run) }
    try checkViews(found)
  }

  private func checkJournals(_ found: GrownProof, ended status: Int32) throws {
    let newest = found.newest
    for run in found.runs {
      if run.proof.damagedLines > 0 {
        throw DrillFinding("\(run.proof.damagedLines) damaged lines in the journal of \(run.id)")
      }
      guard let last = newest[run.manifest], last.id != run.id else { continue }
      // Only a task without a proven end may run its manifest from scratch.
      if run.proof.closingState != "succeeded" {
        throw DrillFinding("\(last.id) began anew what \(run.id) had begun, of \(run.manifest)")
      }
    }
    if status >= 0, let outermost = newest[GrownRuns.first], !outermost.proof.isClosed {
      throw DrillFinding("it ended with \(status) and did not close the journal")
    }
  }

  private mutating func checkAttempts(_ found: GrownProof) throws {
    let data = FileManager.default.contents(atPath: folder + "/attempts") ?? Data()
    let lines = String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    let now = found.successes
    let newest = Set(found.newest.values.map(\.id))
    let standing = proven.filter { newest.contains($0.value) }
    let again = lines.dropFirst(attempts).filter { standing[$0] != nil }
    if !again.isEmpty { throw DrillFinding("ran again though proven: \(Set(again).sorted())") }
    let lost = standing.keys.filter { now[$0] == nil }
    if !lost.isEmpty { throw DrillFinding("proven, and not any more: \(lost.sorted())") }
    for task in now.keys where !FileManager.default.fileExists(atPath: "\(folder)/out/\(task)") {
      throw DrillFinding("\(task) is journaled as a success and left no result")
    }
    attempts = lines.count
    proven = now
  }

  /// Checks that the run's socket is closed and that copies of all added manifests exist.
  private func checkFolder(of run: GrownProof.Run) throws {
    let path = "\(folder)/.opflow/runs/\(run.id)"
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(descriptor) }
    if let socket = RequestClient.connection(to: descriptor) {
      close(socket)
      throw DrillFinding("somebody listens to requests for \(run.id)")
    }
    let kept = (try? FileManager.default.contentsOfDirectory(atPath: path + "/added")) ?? []
    let lost = Set(run.proof.added).subtracting(kept)
    if !lost.isEmpty { throw DrillFinding("\(run.id) has no copy of what was added: \(lost)") }
    if Set(run.proof.added).count != run.proof.added.count {
      throw DrillFinding("\(run.id) has added the same twice: \(run.proof.added)")
    }
  }

  /// Checks that commands that read the run succeed.
  private func checkViews(_ found: GrownProof) throws {
    for run in found.newest.values {
      for words in [["journal", "verify", run.id], ["status", run.id]] {
        let look = try Victim(
          program, words, folder: folder, mark: mark, output: "looked.out")
        let status = look.end(withinMilliseconds: 20_000)
        if status != 0 {
          let text = FileManager.default.contents(atPath: folder + "/looked.out") ?? Data()
          throw DrillFinding(
            "`opflow \(words.joined(separator: " "))` ends with"
              + " \(status.map { "\($0)" } ?? "nothing"): \(String(decoding: text, as: UTF8.self))")
        }
      }
    }
  }

  // MARK: - Final checks

  func checkResults() throws {
    for (task, expected) in project.results().enumerated() {
      let name = project.name(task)
      let found = FileManager.default.contents(atPath: "\(folder)/out/\(name)")
      if found != Data(expected.utf8) {
        throw DrillFinding("\(name) has another result than its needs give")
      }
    }
    let missing = Set(project.tasks.indices.map(project.name)).subtracting(proven.keys)
    if !missing.isEmpty { throw DrillFinding("the run is whole without \(missing.sorted())") }
    let newest = GrownProof(folder: folder).newest
    for run in project.firsts.indices {
      let proof = newest[project.manifestName(ofRun: run)]?.proof
      if proof?.closingState != "succeeded" {
        throw DrillFinding("run \(project.manifestName(ofRun: run)) is not whole")
      }
      let own = Set(project.tasks(ofRun: run).map(project.name))
      if proof?.successes != own {
        throw DrillFinding("\(project.manifestName(ofRun: run)) has other tasks than its own")
      }
    }
  }
}
