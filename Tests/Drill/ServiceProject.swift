import Foundation
import Glibc

/// A copy of `jobs/integration.yaml` whose tasks log their starts, with a last task that checks the
/// database.
struct ServiceProject {
  let folder: String

  private static let audit = """

      audit:
        needs: [db, report]
        run: |
          sh integration/postgres.sh psql -XAtq > out/integration/audit <<'SQL'
          select string_agg(name, ' ' order by name) from migrations;
          select count(*) from customers;
          select count(*) || ' ' || sum(cents) from orders;
          SQL

    """

  init(folder: String, jobs: String) throws {
    self.folder = folder
    let files = FileManager.default
    try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try files.copyItem(atPath: jobs + "/integration", toPath: folder + "/integration")
    let manifest = try String(contentsOfFile: jobs + "/integration.yaml", encoding: .utf8)
    try (manifest + Self.audit).write(
      toFile: folder + "/opflow.yaml", atomically: false, encoding: .utf8)
    for script in ["cluster", "migrate", "test"] {
      let path = folder + "/integration/\(script).sh"
      let text = try String(contentsOfFile: path, encoding: .utf8)
      try ("echo \"$OPFLOW_TASK\" >> attempts\n" + text).write(
        toFile: path, atomically: false, encoding: .utf8)
    }
  }

  /// One line per start of a task.
  var attempts: [String] { lines("attempts") }

  /// The ports of the database in all sessions so far.
  var ports: Set<UInt16> {
    guard let path = JournalProof.newestPath(in: folder),
      let data = FileManager.default.contents(atPath: path)
    else { return [] }
    let text = String(decoding: data, as: UTF8.self)
    return Set(text.matches(of: /\tready\tdb\t.*\bdb:(\d+)/).compactMap { UInt16($0.1) })
  }

  /// The database's main process, if one runs.
  var server: pid_t? {
    let data = folder + "/out/integration/data"
    guard let pid = lines("out/integration/data/postmaster.pid").first.flatMap({ pid_t($0) }),
      // A killed database leaves the file, and its process ID may belong to another process now.
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/cwd")) == data
    else { return nil }
    return pid
  }

  /// Returns the first error in a complete run.
  func fault(proven: Set<String>) -> String? {
    var cents = [Int](repeating: 0, count: 7)
    for order in 1...12_000 {
      let customer = 1 + order * 7919 % 1200
      cents[(customer + 5) % 6 + 1] += 100 + order * 31 % 9000
    }
    for shard in 1...6 where lines("out/integration/shard-\(shard)") != ["200 \(cents[shard])"] {
      return "shard \(shard) has another result than the orders give"
    }
    let found = lines("out/integration/audit")
    let wanted = [
      "1-tables.sql 2-customers.sql 3-totals.sql", "1200", "12000 \(cents.reduce(0, +))",
    ]
    if found != wanted { return "the database has \(found) and not \(wanted)" }
    let tasks = (1...6).map { "test[shard=\($0)]" } + ["cluster", "migrate", "report", "audit"]
    let missing = Set(tasks).subtracting(proven)
    return missing.isEmpty ? nil : "the run is whole without \(missing.sorted())"
  }

  private func lines(_ name: String) -> [String] {
    guard let data = FileManager.default.contents(atPath: "\(folder)/\(name)") else { return [] }
    return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  static var hasDatabase: Bool {
    let versions = "/usr/lib/postgresql"
    let installed = (try? FileManager.default.contentsOfDirectory(atPath: versions)) ?? []
    let folders =
      installed.map { "\(versions)/\($0)/bin" }
      + (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    return folders.contains { FileManager.default.isExecutableFile(atPath: $0 + "/postgres") }
  }

  /// True if a database listens on the port: another program that has the port now does not answer
  /// an encryption request with one letter.
  static func databaseAnswers(on port: UInt16) -> Bool {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard socket >= 0 else { return false }
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else { return false }
    let question: [UInt8] = [0, 0, 0, 8, 4, 210, 22, 47]
    guard send(socket, question, question.count, Int32(MSG_NOSIGNAL)) == question.count
    else { return false }
    var event = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    guard poll(&event, 1, 5000) > 0 else { return false }
    var answer: UInt8 = 0
    return recv(socket, &answer, 1, 0) == 1
      && (answer == UInt8(ascii: "S") || answer == UInt8(ascii: "N"))
  }
}
