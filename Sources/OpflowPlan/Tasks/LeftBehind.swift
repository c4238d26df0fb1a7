/// Processes of a task that outlived its main process: killed by opflow, or those that it could not
/// kill.
package struct LeftBehind: Sendable, Equatable {
  package var count: Int
  /// `sleep, python3 (2)`; for living processes `4711 (sleep, user root)`.
  package var names: String
  /// The task does not start next to living processes without a request.
  package var areAlive = false
  /// The first of those alive, for a later session.
  package var processes: [ProcessMark] = []

  private static let maxNames = 5
  /// A message has at most 1,000 bytes, with the names.
  private static let mostProcesses = 32

  package init(count: Int, names: String, areAlive: Bool = false) {
    self.count = count
    self.names = names
    self.areAlive = areAlive
  }

  package init?(_ all: [String], areAlive: Bool = false) {
    if all.isEmpty { return nil }
    self.areAlive = areAlive
    var names: [String] = []
    var counts: [String: Int] = [:]
    for name in all {
      if counts[name] == nil { names.append(name) }
      counts[name, default: 0] += 1
    }
    let shown = names.prefix(Self.maxNames).map { name in
      counts[name] == 1 ? name : "\(name) (\(counts[name] ?? 0))"
    }
    count = all.count
    self.names =
      shown.joined(separator: ", ") + (names.count > Self.maxNames ? " and others" : "")
  }

  package init?(alive all: [(title: String, mark: ProcessMark)]) {
    self.init(all.map(\.title), areAlive: true)
    processes = all.prefix(Self.mostProcesses).map(\.mark)
  }

  /// From journal and messages; nil if invalid.
  package init?(text: String, processes: String = "") {
    let areAlive = text.hasPrefix(Self.alive)
    let parts = text.dropFirst(areAlive ? Self.alive.count : 0).split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let count = Int(parts[0]), count > 0 else { return nil }
    self.init(count: count, names: String(parts[1]), areAlive: areAlive)
    if areAlive { self.processes = Self.processes(processes) }
  }

  private static let alive = "alive "

  /// In journal and messages: `2 sleep, nc` or `alive 1 4711 (sleep, user root)`.
  package var text: String { "\(areAlive ? Self.alive : "")\(count) \(names)" }

  /// In journal and messages: `4711:88123,4712:88130`.
  package var processesText: String {
    processes.map { "\($0.pid):\($0.startTime)" }.joined(separator: ",")
  }

  /// Skips invalid entries.
  package static func processes(_ text: String) -> [ProcessMark] {
    text.split(separator: ",").compactMap { part in
      let numbers = part.split(separator: ":")
      guard numbers.count == 2, let pid = Int32(numbers[0]), pid > 0,
        let startTime = UInt64(numbers[1])
      else { return nil }
      return ProcessMark(pid: pid, startTime: startTime)
    }
  }
}

/// Identifies a process until its machine reboots.
package struct ProcessMark: Hashable, Sendable {
  package var pid: Int32
  /// In clock ticks since boot.
  package var startTime: UInt64

  package init(pid: Int32, startTime: UInt64) {
    self.pid = pid
    self.startTime = startTime
  }
}
