import Foundation
import Glibc

/// A download that is killed, stopped and suspended at random moments, and continued until the file
/// is complete. The server counts the bytes that it sent.
package struct DownloadDrill {
  private let program: String
  private let server: BadServer
  private let path: String
  private let body: [UInt8]
  private let bytesPerSecond: Int
  private let folder: String
  private let mark = UUID().uuidString
  private var random: DrillNumbers
  private var hasKilledWorker = false

  package private(set) var strikes = 0
  /// The number of bytes that the server sent more than once.
  package private(set) var repeatedBytes = 0

  /// - Parameters:
  ///   - program: the `opflow` to run.
  ///   - megabytes: the size of the file.
  ///   - megabytesPerSecond: the server's speed.
  ///   - parent: the parent of the drill's folder.
  package init(
    program: String, seed: UInt64, megabytes: Int, megabytesPerSecond: Int, parent: String
  ) throws {
    guard let server = BadServer.shared else { throw DrillFinding("the server does not start") }
    self.program = program
    self.server = server
    random = DrillNumbers(seed: seed)
    let size = megabytes * 1_000_000 + random.below(1_000_000)
    bytesPerSecond = megabytesPerSecond * 1_000_000
    path = "/paced/\(size)/\(seed % 200)/\(megabytesPerSecond)-\(mark)"
    body = Payload.bytes(size, seed: Int(seed % 200))
    folder = parent + "/opflow-download-drill-" + mark
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let manifest = """
      tasks:
        fetch:
          download: { url: "\(server.url(path))", to: file, size: \(size) }
          retry: { max: 10, delay: 10ms }
      """
    try manifest.write(toFile: folder + "/opflow.yaml", atomically: false, encoding: .utf8)
  }

  /// Strikes at most `limit` times, then lets the run end. Removes the folder unless an error is
  /// found.
  package mutating func run(striking limit: Int) throws {
    while try !session(mayStrike: strikes < limit) {}
    guard contents("/file") == body else { throw finding("the file is wrong") }
    for left in ["/file.part", "/file.part.meta"] where exists(left) {
      throw finding("\(left) is left")
    }
    repeatedBytes = try server.log(path).reduce(0) { $0 + $1.sent } - body.count
    if repeatedBytes > strikes * bytesPerSecond {
      throw finding("\(repeatedBytes) bytes were sent twice, after \(strikes) strikes")
    }
    try FileManager.default.removeItem(atPath: folder)
  }

  /// Returns true if the run has ended.
  private mutating func session(mayStrike: Bool) throws -> Bool {
    hasKilledWorker = false
    let victim = try Victim(
      program, ["run", "--resume", "--output", "quiet"], folder: folder, mark: mark)
    var sent: Int32 = 0
    // Some strikes come before the first byte, most in the middle.
    let span = body.count / (bytesPerSecond / 1000)
    if mayStrike, victim.end(withinMilliseconds: 20 + random.below(span)) == nil {
      sent = try strike(victim)
      strikes += 1
    }
    guard let status = victim.end(withinMilliseconds: 120_000) else {
      throw finding("it does not end after signal \(sent)")
    }
    switch status {
    case 0: break
    case 1 where hasKilledWorker: break
    case -sent where sent != 0: break
    default: throw finding("it ended with \(status) after signal \(sent)")
    }
    let left = MarkedProcess.waitForNone(mark: mark, milliseconds: 5000)
    if !left.isEmpty { throw finding("left running: \(left.map(\.command))") }
    if status == 0 { return true }
    if exists("/file") { throw finding("the file is there before its end") }
    let part = contents("/file.part") ?? []
    guard body.starts(with: part) else { throw finding("the part is no beginning of the file") }
    return false
  }

  /// Returns the signal that will end the coordinator; 0 for none.
  private mutating func strike(_ victim: Victim) throws -> Int32 {
    let workers = MarkedProcess.all(mark: mark).filter { $0.isWorker && $0.pid != victim.pid }
    switch random.below(5) {
    case 0: kill(victim.pid, SIGKILL)
    case 1:
      for worker in workers { kill(worker.pid, SIGKILL) }
      hasKilledWorker = true
      return 0
    case 2:
      // At the same time: once stopped, neither notices the other's death.
      for pid in [victim.pid] + workers.map(\.pid) { kill(pid, SIGSTOP) }
      for worker in workers { kill(worker.pid, SIGKILL) }
      kill(victim.pid, SIGKILL)
    case 3:
      kill(victim.pid, SIGINT)
      return SIGINT
    default:
      try suspend(victim)
      return 0
    }
    return SIGKILL
  }

  /// Checks that the part file does not grow during a suspension.
  private mutating func suspend(_ victim: Victim) throws {
    kill(victim.pid, SIGTSTP)
    let before = settledSize(victim)
    _ = victim.end(withinMilliseconds: 300)
    if size("/file.part") != before { throw finding("the part grows while it is suspended") }
    kill(victim.pid, SIGCONT)
  }

  /// Returns the size of the part file once the suspension is effective.
  private func settledSize(_ victim: Victim) -> Int {
    var last = -1
    while last != size("/file.part") {
      last = size("/file.part")
      if victim.end(withinMilliseconds: 200) != nil { break }
    }
    return last
  }

  // MARK: - The folder

  private func contents(_ name: String) -> [UInt8]? {
    FileManager.default.contents(atPath: folder + name).map { Array($0) }
  }

  private func exists(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: folder + name)
  }

  private func size(_ name: String) -> Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: folder + name)
    return attributes?[.size] as? Int ?? 0
  }

  private func finding(_ detail: String) -> DrillFinding {
    let said = contents("/last.out").map { String(decoding: $0, as: UTF8.self) } ?? ""
    return DrillFinding("\(detail), in \(folder)\n\(said)")
  }
}
