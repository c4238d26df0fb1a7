/// Processes of a task that outlived its main process: those that opflow killed, or if it could not
/// kill some, these.
package struct LeftBehind: Sendable, Equatable {
  package var count: Int
  /// Names such as `sleep, python3 (2)`; for living processes `4711 (sleep, user root)`.
  package var names: String
  /// Whether they may still run. The task does not start next to them without a request.
  package var areAlive = false
  /// The first of those that may still run, for a later session to look at.
  package var processes: [ProcessMark] = []

  private static let maxNames = 5
  /// A message has at most 1,000 bytes, the names included.
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

  /// Those that may still run; nil for none.
  package init?(alive all: [(title: String, mark: ProcessMark)]) {
    self.init(all.map(\.title), areAlive: true)
    processes = all.prefix(Self.mostProcesses).map(\.mark)
  }

  /// From what journal and wire have; nil where it says nothing that makes sense.
  init?(text: String, processes: String = "") {
    let areAlive = text.hasPrefix(Self.alive)
    let parts = text.dropFirst(areAlive ? Self.alive.count : 0).split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let count = Int(parts[0]), count > 0 else { return nil }
    self.init(count: count, names: String(parts[1]), areAlive: areAlive)
    if areAlive { self.processes = Self.processes(processes) }
  }

  private static let alive = "alive "

  /// The form in the journal and in messages: `2 sleep, nc` or `alive 1 4711 (sleep, user root)`.
  var text: String { "\(areAlive ? Self.alive : "")\(count) \(names)" }

  /// As journal and wire have them: `4711:88123,4712:88130`.
  var processesText: String {
    processes.map { "\($0.pid):\($0.startTime)" }.joined(separator: ",")
  }

  /// Those that a text names; what makes no sense is left out.
  static func processes(_ text: String) -> [ProcessMark] {
    text.split(separator: ",").compactMap { part in
      let numbers = part.split(separator: ":")
      guard numbers.count == 2, let pid = Int32(numbers[0]), pid > 0,
        let startTime = UInt64(numbers[1])
      else { return nil }
      return ProcessMark(pid: pid, startTime: startTime)
    }
  }
}

/// What names one process of a machine for as long as that is up.
package struct ProcessMark: Hashable, Sendable {
  package var pid: Int32
  /// Since boot, in clock ticks.
  package var startTime: UInt64

  package init(pid: Int32, startTime: UInt64) {
    self.pid = pid
    self.startTime = startTime
  }
}
