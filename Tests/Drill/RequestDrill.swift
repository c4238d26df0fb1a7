import Foundation
import Glibc

/// Three clients send random requests to a run while its coordinator is killed and the run is
/// resumed. Each request must have one effect and one answer, no task may run twice at once or
/// after its success, and the ends must match a model.
package struct RequestDrill {
  private let program: String
  private let manifest: RequestManifest
  private let folder: String
  private let mark = UUID().uuidString
  private let seed: UInt64
  private let answers: RequestAnswers
  private var random: DrillNumbers
  private var victim: Victim?

  package private(set) var kills = 0
  package private(set) var obeyed = 0

  private static let connections = 3
  private static let flags = ["--output", "quiet", "-j8", "-k"]

  package init(program: String, seed: UInt64, tasks: Int, requests: Int, parent: String) throws {
    self.program = program
    self.seed = seed
    random = DrillNumbers(seed: seed)
    manifest = RequestManifest(tasks: tasks, &random)
    answers = RequestAnswers(limit: requests)
    folder = parent + "/opflow-drill-" + mark
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try manifest.text.write(toFile: folder + "/opflow.yaml", atomically: false, encoding: .utf8)
    try "".write(toFile: folder + "/tries", atomically: false, encoding: .utf8)
  }

  /// Sends all requests, then brings the run to its end. Removes the folder unless an error is
  /// found.
  package mutating func run() throws {
    try start("run")
    let (run, plan) = try begun()
    let descriptor = open(run, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(descriptor) }
    let connections = (0..<Self.connections).map {
      RequestClient(
        number: $0, folder: descriptor, plan: plan, tasks: manifest.count, answers: answers)
    }
    let over = DispatchGroup()
    for connection in connections {
      let seed = seed &* 10 &+ UInt64(connection.number)
      over.enter()
      Thread.detachNewThread {
        connection.run(seed: seed)
        over.leave()
      }
    }
    while !answers.isDone { try disturb() }
    // Pending requests need a live run for their answers.
    while over.wait(timeout: .now() + .milliseconds(200)) == .timedOut {
      if victim?.end(withinMilliseconds: 0) != nil { try start("resume") }
    }
    answers.end()
    try bringToEnd(connections[0])
    try judge(run)
    try FileManager.default.removeItem(atPath: folder)
  }

  private mutating func start(_ command: String) throws {
    victim = try Victim(program, [command] + Self.flags, folder: folder, mark: mark)
  }

  /// Waits for the first journal line; returns the run's folder and its plan's key.
  private func begun() throws -> (run: String, plan: String) {
    for _ in 0..<6000 {
      if let path = JournalProof.newestPath(in: folder),
        let text = try? String(contentsOfFile: path, encoding: .utf8), text.contains("\n"),
        let plan = Self.values(text.split(separator: "\n")[0], "plan").first
      {
        return ((path as NSString).deletingLastPathComponent, plan)
      }
      _ = victim?.end(withinMilliseconds: 10)
    }
    throw finding("the run does not begin")
  }

  private mutating func disturb() throws {
    guard let victim else { return }
    if victim.end(withinMilliseconds: 100 + random.below(1500)) == nil, random.below(2) == 0 {
      kill(victim.pid, SIGKILL)
      kills += 1
      _ = victim.end(withinMilliseconds: -1)
    }
    if victim.end(withinMilliseconds: 0) != nil { try start("resume") }
  }

  /// Ends all holds, grants all approvals, and resumes cancelled tasks.
  private mutating func bringToEnd(_ connection: RequestClient) throws {
    let all = "among=0-\(manifest.count - 1)"
    var round = 0
    for _ in 0..<100 {
      while let victim, victim.end(withinMilliseconds: 50) == nil {
        round += 1
        if round > 20_000 { throw finding("it does not come to an end") }
        for (place, request) in [
          "continue", "continue\t\(all)", "parallel\tresource=db\tvalue=3000", "approve\t\(all)",
        ].enumerated() {
          let words = request.split(separator: "\t", maxSplits: 1)
          let rest = words.count > 1 ? "\t\(words[1])" : ""
          _ = connection.ask(
            "order\tz\(round).\(place)\t\(words[0])\tplan=\(connection.plan)\(rest)\n")
        }
      }
      if try states() == expected() { return }
      try start("resume")
    }
    let (found, wanted) = (try states(), try expected())
    let first = found.indices.first { found[$0] != wanted[$0] } ?? 0
    throw finding("t\(first) is \(found[first]) in the end, and should be \(wanted[first])")
  }

  // MARK: - Checks

  private func journal() throws -> [[Substring]] {
    guard let path = JournalProof.newestPath(in: folder) else { throw finding("no journal") }
    return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map {
      $0.split(separator: "\t", omittingEmptySubsequences: false)
    }
  }

  private static func values(_ line: Substring, _ key: String) -> [String] {
    values(line.split(separator: "\t", omittingEmptySubsequences: false), key)
  }

  private static func values(_ fields: [Substring], _ key: String) -> [String] {
    fields.dropFirst(5).filter { $0.hasPrefix(key + "=") }.map {
      String($0.dropFirst(key.count + 1))
    }
  }

  /// Returns each task's state according to its last line.
  private func states() throws -> [String] {
    var states = [String](repeating: "pending", count: manifest.count)
    func set(_ name: some StringProtocol, _ state: String) {
      if let index = Int(name.dropFirst()) { states[index] = state }
    }
    for fields in try journal() where fields.count >= 5 {
      switch fields[3] {
      case "success": set(fields[4], "succeeded")
      case "failure": set(fields[4], "failed")
      case "skip": set(fields[4], "skipped")
      case "cancel": set(fields[4], "cancelled")
      case "start", "resume", "retry", "interrupt": set(fields[4], "pending")
      case "order":
        let verb = Self.values(fields, "verb").first
        for name in Self.values(fields, "tasks") {
          if verb == "skip" { set(name, "skipped") }
          if verb == "retry" { set(name, "pending") }
        }
        for name in Self.values(fields, "back") { set(name, "pending") }
      default: break
      }
    }
    return states
  }

  private func expected() throws -> [String] {
    var skipped: Set<Int> = []
    for fields in try journal() where fields.count > 5 && fields[3] == "order" {
      guard Self.values(fields, "verb").first == "skip" else { continue }
      for name in Self.values(fields, "tasks") {
        if let index = Int(name.dropFirst()) { skipped.insert(index) }
      }
    }
    return manifest.ends(skipped: skipped)
  }

  private mutating func judge(_ run: String) throws {
    let bytes = FileManager.default.contents(atPath: run + "/journal.log") ?? Data()
    let proof = JournalProof([UInt8](bytes))
    if proof.damagedLines > 0 { throw finding("\(proof.damagedLines) damaged lines") }
    try judgeRequests()
    try judgeTries()
    let left = MarkedProcess.waitForNone(mark: mark, milliseconds: 15_000)
    if !left.isEmpty { throw finding("left alive: \(left.map(\.command))") }
  }

  private mutating func judgeRequests() throws {
    var journaled: Set<String> = []
    for fields in try journal() where fields.count > 5 && fields[3] == "order" {
      let id = Self.values(fields, "id").first ?? ""
      if !journaled.insert(id).inserted { throw finding("request \(id) has two lines") }
    }
    for (id, told) in answers.all {
      let words = told.map { $0.split(separator: "\t").map(String.init) }
      for word in words where word.count < 2 || word[1] != id {
        throw finding("request \(id) is answered as \(word)")
      }
      // A refused request may succeed in the next session.
      if let done = words.firstIndex(where: { $0[0] == "done" }),
        words[done...].contains(where: { $0[0] != "done" })
      {
        throw finding("request \(id) is answered in two ways: \(told)")
      }
      if words.contains(where: { $0[0] == "done" }) {
        obeyed += 1
        if !journaled.contains(id) { throw finding("request \(id) is done and has no line") }
      } else if journaled.contains(id) {
        throw finding("request \(id) is refused and has a line: \(told)")
      }
    }
  }

  /// Checks that attempts of a task do not overlap, and that none begins after a success.
  private func judgeTries() throws {
    let text = try String(contentsOfFile: folder + "/tries", encoding: .utf8)
    var newest: [Substring: Substring] = [:]
    var ended: [Substring: Int] = [:]
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count == 3 else { throw finding("a line of a try is torn: \(line)") }
      if words[0] == "s" {
        newest[words[1]] = words[2]
      } else {
        ended[words[1], default: 0] += 1
        if newest[words[1]] != words[2] { throw finding("two tries of \(words[1]) ran at once") }
      }
    }
    let states = try states()
    for (index, kind) in manifest.kinds.enumerated() where kind == .runs {
      let name = Substring("t\(index)")
      if states[index] == "succeeded", ended[name] == nil {
        throw finding("\(name) succeeded and did not run")
      }
    }
  }

  private func finding(_ text: String) -> DrillFinding {
    let output = FileManager.default.contents(atPath: folder + "/last.out") ?? Data()
    return DrillFinding(
      "\(text)\n\(folder)\n" + String(decoding: output, as: UTF8.self).suffix(1000))
  }
}
