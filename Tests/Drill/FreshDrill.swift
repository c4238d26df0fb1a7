import Foundation
import Glibc

/// Runs of a project with cached results while its files change, killed at random moments,
/// sometimes two at once. Outputs that opflow calls up to date or restores must match the sources.
package struct FreshDrill {
  private let program: String
  private let folder: String
  private let mark = UUID().uuidString
  private var random: DrillNumbers
  private var strikes: Strikes
  private var project: FreshProject

  package private(set) var kills = 0
  package private(set) var sessions = 0
  package private(set) var looks = 0
  /// Results restored from the cache in undisturbed runs.
  package private(set) var restores = 0

  /// - Parameters:
  ///   - program: the `opflow` to run.
  ///   - parent: the parent of the drill's folder.
  package init(program: String, seed: UInt64, sources: Int, parent: String) throws {
    self.program = program
    random = DrillNumbers(seed: seed)
    strikes = Strikes(mark: mark)
    folder = parent + "/opflow-fresh-" + mark
    project = try FreshProject(folder: folder, sources: sources)
  }

  /// Runs until `limit` runs were killed. Removes the folder unless an error is found.
  package mutating func run(killing limit: Int) throws {
    while kills < limit {
      for _ in 0..<(1 + random.below(3)) { try disturb() }
      try judge()
    }
    try FileManager.default.removeItem(atPath: folder)
  }

  /// Starts one run or two, changes files before and during them, and mostly kills one.
  private mutating func disturb() throws {
    sessions += 1
    strikes.begin()
    for _ in 0..<random.below(4) { try project.change(isRunning: false, &random) }
    let victim = try start()
    let second = random.chance(25) ? try start() : nil
    var sent: Int32 = 0
    while sent == 0 {
      if victim.end(withinMilliseconds: random.below(250)) != nil { break }
      if random.chance(30) {
        try project.change(isRunning: true, &random)
      } else if random.chance(10) {
        try damageCache()
      } else if random.chance(20) {
        try clean()
      } else {
        sent = strikes.strike(victim, &random)
        kills += 1
      }
    }
    for victim in [victim, second].compactMap({ $0 }) {
      guard let status = victim.end(withinMilliseconds: 120_000) else {
        throw finding("it does not end after signal \(sent)")
      }
      // An input may vanish at any time, and a signal may hit the other run.
      guard status <= 1 || status == 5 || status == 6 || status == -sent else {
        throw finding("it ended with \(status) after signal \(sent)")
      }
    }
  }

  /// Compacts the records while runs append to them.
  private func clean() throws {
    let victim = try Victim(
      program, ["clean", "--keep", "20"], folder: folder, mark: mark)
    guard victim.end(withinMilliseconds: 20_000) == 0 else { throw finding("it cannot be cleaned") }
  }

  private mutating func start() throws -> Victim {
    let resumes = random.chance(30) && JournalProof.newestPath(in: folder) != nil
    let words = resumes ? ["run", "--resume"] : ["run"]
    return try Victim(
      program, words + cache() + ["--output", "quiet", "-k"], folder: folder, mark: mark)
  }

  /// Returns options for the state folder's cache, a shared one (perhaps read-only), or none.
  private mutating func cache() -> [String] {
    switch random.below(8) {
    case 0: ["--no-cache"]
    case 1: ["--cache", "shared"]
    case 2, 3: ["--cache", "shared", "--cache-write"]
    default: []
    }
  }

  /// Damages a cache entry like a bad disk, or removes it like a cleanup.
  private mutating func damageCache() throws {
    let caches = [folder + "/.opflow/cache", folder + "/shared"]
    var files: [String] = []
    for cache in caches {
      for name in FileManager.default.enumerator(atPath: cache)?.compactMap({ $0 as? String }) ?? []
      {
        var isFolder: ObjCBool = false
        let path = "\(cache)/\(name)"
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue
        {
          files.append(path)
        }
      }
    }
    guard !files.isEmpty else { return }
    let path = files.sorted()[random.below(files.count)]
    // Another program may remove it at the same time.
    if random.chance(30) {
      try? FileManager.default.removeItem(atPath: path)
      return
    }
    guard let file = FileHandle(forUpdatingAtPath: path), let size = try? file.seekToEnd() else {
      return
    }
    defer { try? file.close() }
    if random.chance(50) {
      try? file.truncate(atOffset: UInt64(random.below(Int(size) + 1)))
    } else if size > 0 {
      try? file.seek(toOffset: UInt64(random.below(Int(size))))
      try? file.write(contentsOf: Data([UInt8(random.below(256))]))
    }
  }

  /// Checks that an undisturbed run makes all outputs match the sources and that another one starts
  /// no task.
  private mutating func judge() throws {
    looks += 1
    // Orphans of a simultaneous kill may write for a moment.
    let left = MarkedProcess.waitForNone(mark: mark, milliseconds: 20_000)
    if !left.isEmpty { throw finding("left alive: \(left.map(\.command))") }
    let words = random.chance(30) ? ["run", "--resume"] : ["run"]
    try undisturbed(words + cache())
    restores +=
      try JournalProof.newestPath(in: folder).map { path in
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
          .count { $0.contains("\trestored=1") }
      } ?? 0
    let stage = JournalProof.newestPath(in: folder).map {
      ($0 as NSString).deletingLastPathComponent + "/stage"
    }
    if let stage, FileManager.default.fileExists(atPath: stage) {
      throw finding("what was put together to come back is left")
    }
    if let wrong = project.firstWrong() { throw finding("\(wrong) is not what the sources give") }
    let starts = try attempts()
    try undisturbed(["run"])
    if try attempts() != starts { throw finding("a task started though nothing had changed") }
  }

  private func undisturbed(_ words: [String]) throws {
    let victim = try Victim(
      program, words + ["--output", "quiet"], folder: folder, mark: mark)
    guard victim.end(withinMilliseconds: 120_000) == 0 else {
      throw finding("undisturbed, it fails")
    }
  }

  private func attempts() throws -> Int {
    FileManager.default.contents(atPath: folder + "/attempts")?.count { $0 == 10 } ?? 0
  }

  private func finding(_ text: String) -> DrillFinding {
    let output = FileManager.default.contents(atPath: folder + "/last.out") ?? Data()
    return DrillFinding(
      "drive \(sessions): \(text)\n\(folder)\n"
        + String(decoding: output, as: UTF8.self).suffix(2000)
    )
  }
}
