import Foundation
import Glibc

/// Runs with secrets whose tasks print them in every way, fail, are retried, add tasks and are
/// killed. No output, file or answer of opflow may contain a secret.
package struct SecretDrill {
  private let program: String
  private let folder: String
  private let mark = UUID().uuidString
  private var random: DrillNumbers
  private var strikes: Strikes
  private let project: SecretProject
  private var shown = 0

  package private(set) var kills = 0
  package private(set) var sessions = 0
  /// The number of masked secrets in the logs.
  package private(set) var marks = 0

  /// - Parameters:
  ///   - program: the `opflow` to run.
  ///   - parent: the parent of the drill's folder.
  package init(program: String, seed: UInt64, parent: String) throws {
    self.program = program
    random = DrillNumbers(seed: seed)
    strikes = Strikes(mark: mark, program: program)
    folder = parent + "/opflow-secret-" + mark
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true)
    project = try SecretProject(folder: folder, program: program, &random)
    try project.write(&random)
  }

  /// Kills a run `limit` times, then lets it end. Removes the folder unless an error is found.
  package mutating func run(killing limit: Int) throws {
    let isServed = random.chance(30)
    while kills < limit { try session(isServed: isServed, isDisturbed: true) }
    try session(isServed: isServed, isDisturbed: false)
    let left = MarkedProcess.waitForNone(mark: mark, milliseconds: 20_000)
    if !left.isEmpty { throw finding("left alive: \(left.map(\.command))") }
    try search()
    try FileManager.default.removeItem(atPath: folder)
  }

  private mutating func session(isServed: Bool, isDisturbed: Bool) throws {
    sessions += 1
    strikes.begin()
    let isNew = JournalProof.newestPath(in: folder) == nil
    var words = isNew ? isServed ? ["serve"] : ["run"] : ["resume"]
    if isNew, isServed { words += ["opflow.yaml"] }
    let outputs = ["line", "group", "github", "quiet"]
    words += [
      "--output", outputs[random.below(outputs.count)], "--junit", "seen/junit.xml",
      "--notify", "cat > seen/notified", "-v",
    ]
    if !isServed || !isNew { words.append("-k") }
    if random.chance(30) { words.append("--json") }
    let victim = try start(words)
    if isDisturbed {
      _ = victim.end(withinMilliseconds: random.below(400))
      if random.chance(50) { try look() }
      _ = strikes.strike(victim, &random)
      kills += 1
    }
    // It ends once its approval is granted and it is closed.
    while victim.end(withinMilliseconds: 100) == nil {
      try look()
      try show(["approve", "asks"])
      if isServed { try show(["close"]) }
      if sessions > 0, shown > 4000 { throw finding("it does not end") }
    }
    try look()
  }

  /// Prints views of the newest run.
  private mutating func look() throws {
    for words in [
      ["status", "-v"], ["status", "--json"], ["logs"], ["runs"], ["runs", "--json"],
      ["tasks", "-v"], ["plan", "-v"], ["plan", "--json"], ["check"], ["graph", "--json"],
      ["why", "value", "leaves", "late", "adds"], ["why", "--json", "takes"], ["resume", "-n"],
      ["report", "junit"], ["report", "trace"], ["report", "otel"], ["report", "html"],
      ["journal", "export"], ["journal", "verify"],
    ] where random.chance(40) {
      try show(words)
    }
  }

  private mutating func show(_ words: [String]) throws {
    shown += 1
    let view = try start(words, output: "seen/\(shown)")
    guard view.end(withinMilliseconds: 60_000) != nil else {
      throw finding("\(words.joined(separator: " ")) does not end")
    }
  }

  private mutating func start(_ words: [String], output: String? = nil) throws -> Victim {
    try Victim(
      program, words, folder: folder, mark: mark, output: output ?? "seen/drive-\(sessions)",
      environment: [
        "GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY=\(folder)/seen/summary",
        "TMPDIR=\(folder)/tmp",
      ])
  }

  // MARK: - Checks

  /// Searches for secrets, also with spaces and newlines in between, and in file names.
  private mutating func search() throws {
    let search = """
      export LC_ALL=C
      found() {
        grep -r -a -l -F -f traces "$@" || test $? = 1
        find "$@" | grep -a -F -f traces || test $? = 1
        find "$@" -type f | while read -r f; do
          if tr -d '\\n\\r\\t' < "$f" | grep -a -q -F -f traces; then echo "$f (joined)"; fi
        done
      }
      found .opflow seen tmp > leaks
      # Proves that the search finds the secrets where they are.
      test "$(found values | sort -u | wc -l)" -ge 5 || echo 'nothing is found' >> leaks
      cat .opflow/runs/*/logs/* | grep -a -o -F '***' | wc -l > marks
      """
    let shell = try Victim(
      "/bin/bash", ["-c", search], folder: folder, mark: mark, output: "search.out")
    guard shell.end(withinMilliseconds: 300_000) == 0 else { throw finding(text("search.out")) }
    marks = Int(text("marks").trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    if marks == 0 { throw finding("no log has a mark") }
    let leaks = text("leaks")
    if !leaks.isEmpty { throw finding("secrets stand in\n" + leaks) }
  }

  private func text(_ name: String) -> String {
    String(
      decoding: FileManager.default.contents(atPath: "\(folder)/\(name)") ?? Data(),
      as: UTF8.self)
  }

  private func finding(_ text: String) -> DrillFinding {
    DrillFinding("drive \(sessions): \(text)\n\(folder)")
  }
}
