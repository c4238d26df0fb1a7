import Foundation
import Glibc

/// Small runs in which one system call fails or one process is killed, each followed by an
/// undisturbed session. The files of the tasks are checked, not opflow's reports.
package struct FaultDrill {
  /// The state before the faulty session.
  package enum Scene: String, CaseIterable, Sendable {
    /// There is no run.
    case run
    /// A run was killed in its middle, and its journal's end is torn.
    case resume
  }

  private let program: String
  private let injector: String
  private let folder: String
  private let mark = UUID().uuidString
  private let limitMilliseconds = 40_000
  /// The number of calls by name that any command makes when it starts.
  private var startCalls: [String: Int] = [:]
  private var scene: Scene?
  package private(set) var faults = 0

  private static let tasks = ["plain", "loud", "listed", "again", "fetched", "last"]

  /// - Parameters:
  ///   - injector: the program of Tests/Injector.
  ///   - parent: the parent of the drill's folder.
  package init(program: String, injector: String, parent: String) throws {
    self.program = program
    self.injector = injector
    folder = parent + "/opflow-faults-" + mark
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try write("source", String(repeating: "content\n", count: 20_000))
    try write("counts", "")
    startCalls = try count(["version"]).filter { $0.role == "coordinator" }
      .reduce(into: [:]) { $0[$1.call] = $1.count }
  }

  /// Removes the drill's folder.
  package func cleanUp() throws { try FileManager.default.removeItem(atPath: folder) }

  /// Returns all faults that the scene's session can meet.
  package mutating func faults(of scene: Scene) throws -> [Fault] {
    try prepare(scene)
    return try count(["run", "--resume", "--output", "line"]).flatMap { role, call, count in
      // One more call than counted, since no two runs are quite the same.
      Fault.Error.allCases.flatMap {
        Fault.all(role: role, call: call, count: count + 1, error: $0)
      }
    }
  }

  /// Runs a session with the fault, then one without.
  ///
  /// - Throws: `DrillFinding` for a violated promise.
  package mutating func check(_ fault: Fault, in scene: Scene) throws {
    faults += 1
    try prepare(scene)
    let before = proof()
    let status = try session(injector, fault.arguments + ["--", program] + Self.words)
    let output = text("last.out")
    func finding(_ text: String) -> DrillFinding {
      // Cleans up for the next fault.
      for process in MarkedProcess.all(mark: mark) { kill(process.pid, SIGKILL) }
      return DrillFinding("\(scene.rawValue), \(fault): \(text)\n\(output.suffix(3000))")
    }
    guard let status else { throw finding("it does not end") }
    let left = MarkedProcess.waitForNone(mark: mark, milliseconds: 15_000)
    if !left.isEmpty { throw finding("left alive: \(left.map { "\($0.pid) \($0.command)" })") }
    let after = proof()
    if !before.successes.isSubset(of: after.successes) {
      throw finding("proven before, and not any more: \(before.successes)")
    }
    switch status {
    case 0:
      if let wrong = wrongResult() { throw finding("it ended with 0, and \(wrong)") }
      if !after.isClosed || after.successes.count < Self.tasks.count {
        throw finding("it ended with 0, and the journal does not tell of all successes")
      }
    case 1:
      if after.failures.isEmpty { throw finding("it ended with 1, and no failure is journaled") }
    case 74:
      if output.isEmpty, fault.call != "write" { throw finding("it ended with 74 and no word") }
    default:
      if !isAtStart(fault), !isDeath(status, fault) { throw finding("it ended with \(status)") }
    }
    let isWhole = after.isClosed && after.successes.count == Self.tasks.count
    try checkNextSession(after, isWhole: isWhole, finding)
  }

  private func checkNextSession(
    _ before: JournalProof, isWhole: Bool, _ finding: (String) -> DrillFinding
  ) throws {
    let attempts = text("attempts").split(separator: "\n").map(String.init)
    // `run --resume` starts a complete run from scratch.
    let status = try session(program, isWhole ? ["resume", "--output", "line"] : Self.words)
    let output = text("last.out")
    if status != 0 {
      throw finding("the next drive ends with \(status.map { "\($0)" } ?? "nothing"):\n\(output)")
    }
    if let wrong = wrongResult() { throw finding("after the next drive \(wrong)") }
    let ran = Set(
      text("attempts").split(separator: "\n").map(String.init).dropFirst(attempts.count))
    // `finally` tasks run at the end of each session in which a task ran.
    let again = ran.intersection(before.successes).subtracting(["last"])
    if !again.isEmpty { throw finding("ran again though proven: \(again.sorted())") }
    let left = MarkedProcess.waitForNone(mark: mark, milliseconds: 15_000)
    if !left.isEmpty { throw finding("left by the next drive: \(left.map(\.command))") }
  }

  /// Before its first own instruction, the loader and the C library handle errors.
  private func isAtStart(_ fault: Fault) -> Bool {
    fault.role == "coordinator" && fault.first <= startCalls[fault.call, default: 0]
  }

  private func isDeath(_ status: Int32, _ fault: Fault) -> Bool {
    guard fault.role == "coordinator", fault.mayEndBySignal else { return false }
    return [SIGKILL, SIGSEGV, SIGABRT, SIGILL, SIGTRAP, SIGBUS].contains(-status)
  }

  // MARK: - Sessions

  private static let words = ["run", "--resume", "--output", "line"]

  /// Returns the exit code, or a negative signal number; nil if it does not end.
  private func session(_ program: String, _ arguments: [String]) throws -> Int32? {
    let victim = try Victim(program, arguments, folder: folder, mark: mark)
    return victim.end(withinMilliseconds: limitMilliseconds)
  }

  private func count(_ words: [String]) throws -> [(role: String, call: String, count: Int)] {
    let status = try session(injector, ["count", folder + "/counts", "--", program] + words)
    guard status == 0 else {
      throw DrillFinding(
        "a run that nothing happens to ends with \(status ?? -1): \(text("last.out"))")
    }
    return text("counts").split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ").map(String.init)
      guard words.count == 3, let count = Int(words[2]) else { return nil }
      return (words[0], words[1], count)
    }
  }

  /// Each start writes a line to `attempts`.
  private mutating func prepare(_ next: Scene) throws {
    for name in [".opflow", "out", "attempts", "last.out"] { remove(name) }
    try FileManager.default.createDirectory(
      atPath: folder + "/out", withIntermediateDirectories: true)
    if scene == nil {
      // The script is read by a shell, never executed: a process forked by another test may have it
      // open for writing.
      try write("note", "echo $1 >> attempts\necho $1 > out/$1\necho said $1\n")
      try write("opflow.yaml", manifest(dies: false))
    }
    scene = next
    guard next == .resume else { return }
    try write("opflow.yaml", manifest(dies: true))
    let status = try session(program, ["run", "--output", "line"])
    guard status == -SIGKILL else { throw DrillFinding("no run to resume: \(status ?? -1)") }
    let left = MarkedProcess.waitForNone(mark: mark, milliseconds: 15_000)
    guard left.isEmpty, let journal = journalPath else { throw DrillFinding("no run to resume") }
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: journal))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data("0123abcd\t99\t17".utf8))
    try handle.close()
    try write("opflow.yaml", manifest(dies: false))
  }

  /// - Parameter dies: its fourth task kills the run.
  private func manifest(dies: Bool) -> String {
    let death = dies ? "kill -KILL $(cat .opflow/runs/$OPFLOW_RUN/lock); " : ""
    return """
      max_parallel: 2
      tasks:
        plain: { run: sh note plain }
        loud: { needs: [plain], run: "sh note loud; head -c 150000 /dev/zero" }
        listed: { needs: [plain], run: [sh, note, listed] }
        again:
          needs: [loud, listed]
          run: "\(death)test $OPFLOW_ATTEMPT -gt 1 && sh note again"
          retry: { max: 3, delay: 1ms }
        fetched: { download: { url: "file://\(folder)/source", to: out/fetched } }
        last: { finally: true, run: sh note last }
      """
  }

  // MARK: - Checks

  private func wrongResult() -> String? {
    for task in Self.tasks {
      let expected = task == "fetched" ? text("source") : task + "\n"
      if text("out/\(task)") != expected { return "\(task) left no right result" }
    }
    return nil
  }

  private func proof() -> JournalProof {
    guard let path = journalPath, let data = FileManager.default.contents(atPath: path) else {
      return JournalProof([])
    }
    return JournalProof([UInt8](data))
  }

  private var journalPath: String? { JournalProof.newestPath(in: folder) }

  private func text(_ name: String) -> String {
    String(
      decoding: FileManager.default.contents(atPath: folder + "/" + name) ?? Data(), as: UTF8.self)
  }

  private func write(_ name: String, _ text: String) throws {
    try text.write(toFile: folder + "/" + name, atomically: false, encoding: .utf8)
  }

  private func remove(_ name: String) {
    _ = try? FileManager.default.removeItem(atPath: folder + "/" + name)
  }
}
