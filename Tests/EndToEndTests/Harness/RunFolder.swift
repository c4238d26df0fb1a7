import Foundation
import Testing

/// A line of a journal, read without opflow's own code.
struct JournalLine {
  let text: String
  let event: String
  let task: String
  let sequence: Int
  let milliseconds: Int
  let values: [String: String]
  /// Whether the checksum in front is that of the rest.
  let isIntact: Bool

  init?(_ text: String) {
    let fields = text.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    guard fields.count >= 5, let sequence = Int(fields[1]), let time = Int(fields[2]) else {
      return nil
    }
    self.text = text
    self.sequence = sequence
    milliseconds = time
    event = fields[3]
    task = fields[4]
    values = Dictionary(
      fields[5...].map { field in
        let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
      }, uniquingKeysWith: { $1 })
    let rest = Array(text.utf8.drop { $0 != 9 }.dropFirst())
    let sum = String(CRC32C.checksum(rest), radix: 16)
    isIntact = fields[0].lowercased() == String(repeating: "0", count: 8 - sum.count) + sum
  }
}

/// CRC-32C bit by bit, from its definition (RFC 3720, appendix B.4).
enum CRC32C {
  static func checksum(_ bytes: [UInt8]) -> UInt32 {
    var crc = ~UInt32(0)
    for byte in bytes {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 1 ? (crc >> 1) ^ 0x82F6_3B78 : crc >> 1 }
    }
    return ~crc
  }
}

/// What `opflow status --json` prints.
struct StatusView: Decodable {
  struct Task: Decodable {
    let id: String
    let state: String
    let attempts: Int
    let exit: Int?
    let signal: Int?
    let startedMs: Int?
    let endedMs: Int?
    let reason: String?
    let waitsFor: [String]
    let log: String?
  }
  let run: String
  let name: String
  let state: String
  let counts: [String: Int]
  let tasks: [Task]

  subscript(id: String) -> Task? { tasks.first { $0.id == id } }
}

extension Workplace {
  /// The runs kept here, oldest first: ids count up.
  var runs: [String] { entries(".opflow/runs") }

  /// The folder of the only run.
  func runFolder() throws -> String {
    guard runs.count == 1, let run = runs.first else {
      throw HarnessFailure("expected one run in .opflow/runs, found \(runs)")
    }
    return ".opflow/runs/\(run)"
  }

  var journalName: String { get throws { try runFolder() + "/journal.log" } }

  /// The lines of the only run's journal, each of which must be one.
  func journal() throws -> [JournalLine] {
    let text = try text(journalName)
    return try text.split(separator: "\n").map { line in
      guard let parsed = JournalLine(String(line)) else {
        throw HarnessFailure("no line of a journal: \(line)")
      }
      return parsed
    }
  }

  /// Waits until the only run's journal says so: looks whenever the run's folder changes.
  func waitForJournal(until done: ([JournalLine]) -> Bool) throws {
    let watch = try FolderWatch(file(runFolder()))
    while !done((try? journal()) ?? []) { try watch.wait() }
  }

  /// The text of a task's log.
  func log(_ task: String) throws -> String {
    try text(runFolder() + "/logs/\(task).log")
  }

  /// What `opflow status --json` says, of the newest run or of the one named.
  func status(
    _ run: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> StatusView {
    let finished =
      if let run {
        try opflow("status", "--json", run, sourceLocation: sourceLocation)
      } else {
        try opflow("status", "--json", sourceLocation: sourceLocation)
      }
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(StatusView.self, from: Data(finished.outputBytes))
  }
}
