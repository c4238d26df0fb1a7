/// The runs around a process, as it finds them in `OPFLOW_RUNS`: ids with a blank between, the outermost first.
/// A task of one may run `opflow run` itself; `OPFLOW_RUN` names the innermost only.
package struct RunsAround: Equatable, Sendable {
  package static let variable = "OPFLOW_RUNS"
  /// Of the innermost.
  package static let ownVariable = "OPFLOW_RUN"
  /// The folder of the innermost, absolute: a task may work elsewhere, and the run be kept wherever its user wanted.
  package static let folderVariable = "OPFLOW_RUN_DIR"

  /// Words, and not ids: what is in an environment is whatever somebody put there.
  private let words: [String]
  /// Runs in runs in runs: nobody needs more, and a run that starts itself is not to fill its environment.
  private static let most = 64

  /// - Parameters:
  ///   - text: of `OPFLOW_RUNS`; nil where it is not set.
  ///   - own: of `OPFLOW_RUN`.
  package init(_ text: String?, own: String?) {
    // Around most there is none.
    guard let text = text ?? own, !text.isEmpty else {
      words = []
      return
    }
    let found = text.split(separator: " ").map { String($0) }
    words = found.filter { RunID($0) != nil }.suffix(Self.most)
  }

  package var isEmpty: Bool { words.isEmpty }

  package func contains(_ run: RunID) -> Bool { words.contains(run.description) }

  /// What the tasks of a run find that is started here.
  package func text(with run: String) -> String {
    var text = ""
    for word in words.filter({ $0 != run }).suffix(Self.most - 1) { text += word + " " }
    return text + run
  }

  /// What the workers of a run find that is started here, so that all that is of the run is known by it; nothing
  /// for one that no other is around.
  package func variables(with run: String) -> [String] {
    isEmpty ? [] : ["\(Self.ownVariable)=\(run)", "\(Self.variable)=\(text(with: run))"]
  }

  /// Whether an environment is that of a process of a run, or of one within it.
  ///
  /// - Parameter environment: as in /proc/PID/environ.
  package static func isOf(_ run: String, _ environment: [UInt8]) -> Bool {
    environment.split(separator: 0).contains { entry in
      entry.elementsEqual("\(ownVariable)=\(run)".utf8) || names(run, entry)
    }
  }

  /// Whether it is that of a process of a run within that one, which ends what is its own by its own rules.
  package static func isWithin(_ run: String, _ environment: [UInt8]) -> Bool {
    var isNamed = false
    var isOfAnother = false
    for entry in environment.split(separator: 0) {
      if names(run, entry) { isNamed = true }
      if entry.starts(with: "\(ownVariable)=".utf8) {
        isOfAnother = !entry.dropFirst(ownVariable.utf8.count + 1).elementsEqual(run.utf8)
      }
    }
    return isNamed && isOfAnother
  }

  /// Whether that is an entry for all runs around, that one among them.
  private static func names(_ run: String, _ entry: ArraySlice<UInt8>) -> Bool {
    let start = "\(variable)=".utf8
    guard entry.starts(with: start) else { return false }
    return entry.dropFirst(start.count).split(separator: UInt8(ascii: " ")).contains {
      $0.elementsEqual(run.utf8)
    }
  }
}

/// The tasks around a process, one for each run around it, by manifest and name. A task that is asked for within itself
/// would ask for itself again, without end.
package struct TasksAround: Equatable, Sendable {
  /// Those around the innermost run.
  package static let variable = "OPFLOW_TASKS"
  /// The path of the innermost run's manifest, absolute.
  package static let manifestVariable = "OPFLOW_MANIFEST"

  /// A hash each, the outermost first.
  private var words: [String]
  private static let most = 32

  /// - Parameters:
  ///   - text: of `OPFLOW_TASKS`; nil where it is not set.
  ///   - manifest: of `OPFLOW_MANIFEST`.
  ///   - task: of `OPFLOW_TASK`.
  package init(_ text: String?, manifest: String?, task: String?) {
    words = (text ?? "").split(separator: " ").map { String($0) }
    if let manifest, let task, !task.isEmpty { words.append(Self.word(manifest, task)) }
    words = words.suffix(Self.most)
  }

  package var isEmpty: Bool { words.isEmpty }

  package func contains(_ task: String, of manifest: String) -> Bool {
    words.contains(Self.word(manifest, task))
  }

  /// What the workers of a run of a manifest find that is started here.
  package func variables(of manifest: String) -> [String] {
    let own = "\(Self.manifestVariable)=\(manifest)"
    return isEmpty ? [own] : [own, "\(Self.variable)=\(words.joined(separator: " "))"]
  }

  private static func word(_ manifest: String, _ task: String) -> String {
    Hexadecimal.text(Hash.xxh3(Array("\(manifest)\0\(task)".utf8)))
  }
}

/// The task that a process is part of, by its environment.
package struct TaskAround: Hashable, Sendable {
  package let run: RunID
  package let task: String

  package init(run: RunID, task: String) {
    self.run = run
    self.task = task
  }

  /// As it stands in a journal: the run, a blank, the task.
  package init?(_ text: String) {
    guard let end = text.firstIndex(of: " "), let run = RunID(String(text[..<end])) else {
      return nil
    }
    self.init(run: run, task: String(text[text.index(after: end)...]))
  }

  /// By the environment of a process, as in /proc/PID/environ; nil for one that is of no task.
  package init?(environment: [UInt8]) {
    var (run, task): (RunID?, String) = (nil, "")
    for entry in environment.split(separator: 0) {
      let text = String(decoding: entry, as: UTF8.self)
      let own = "\(RunsAround.ownVariable)="
      if text.hasPrefix(own) { run = RunID(String(text.dropFirst(own.count))) }
      if text.hasPrefix("\(Self.variable)=") {
        task = String(text.dropFirst(Self.variable.count + 1))
      }
    }
    guard let run, !task.isEmpty else { return nil }
    self.init(run: run, task: task)
  }

  package static let variable = "OPFLOW_TASK"

  package var text: String { "\(run) \(task)" }
}
