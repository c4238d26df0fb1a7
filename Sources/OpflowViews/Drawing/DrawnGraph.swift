internal import OpflowJournal
internal import OpflowPlan

/// A picture of tasks and dependencies. A node is a task, or several folded tasks.
package struct DrawnGraph {
  enum Kind: Equatable {
    case task(ActionKind)
    case matrixGroup
    /// The tasks of one included file, or with the same start of their IDs up to a `/`.
    case group
    /// The picture has no room for them.
    case rest
  }

  struct Node {
    /// Clean and never empty.
    var name: String
    var kind: Kind
    var taskCount = 0
    var counts: TaskCounts?
    var isFinally = false
    var isManual = false

    var title: String {
      switch kind {
      case .task: name
      case .matrixGroup: "\(name) (\(taskCount) tasks)"
      case .group: "\(name)/ (\(taskCount) tasks)"
      case .rest: "… and \(taskCount) more tasks"
      }
    }
  }

  struct Edge: Equatable {
    var from: Int
    var to: Int
    var conditions: NeedConditions
  }

  let name: String
  /// In execution order, except for cycles by folding.
  let nodes: [Node]
  /// Grouped by dependent, in node order.
  let edges: [Edge]
  let needOffsets: [Int]
  /// Before folding; so is `needCount`.
  let taskCount: Int
  let needCount: Int
  /// Empty without folding.
  let folding: String
  let run: (id: String, state: RunState)?

  func needs(_ node: Int) -> ArraySlice<Edge> {
    edges[needOffsets[node]..<needOffsets[node + 1]]
  }

  package var foldingNote: String? {
    if folding.isEmpty { return nil }
    return "\(sizeText) are too many for a picture; collapsed: \(folding); -v shows everything"
  }

  var sizeText: String {
    let tasks = taskCount == 1 ? "1 task" : "\(taskCount) tasks"
    let needs = needCount == 1 ? "1 dependency" : "\(needCount) dependencies"
    return "\(tasks), \(needs)"
  }
}

struct NeedConditions: OptionSet {
  let rawValue: UInt8

  init(rawValue: UInt8) { self.rawValue = rawValue }
  init(_ condition: NeedCondition) { rawValue = 1 << condition.rawValue }

  /// Empty for the default condition.
  var text: String {
    let words = NeedCondition.allCases.filter { contains(NeedConditions($0)) }
    if words == [.success] { return "" }
    return words.map { "\($0)" }.joined(separator: ", ")
  }
}

/// Escapes clean names (`CleanText`) for pictures.
enum GraphLabel {
  /// In columns.
  private static let mostColumns = 60

  static func shortened(_ name: String) -> String { TextWidth.cutMiddle(name, to: mostColumns) }

  /// For a quoted DOT attribute, where Graphviz interprets escapes and entities. SVG is XML,
  /// without U+FFFE and U+FFFF.
  static func dot(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\\\"
      case "\"": result += "\\\""
      case "&": result += "&amp;"
      case "\t": result += " "
      case "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// For a quoted Mermaid text. Characters that Mermaid, its directives and styles or a browser may
  /// interpret become numeric references.
  static func mermaid(_ text: String) -> String {
    var result = ""
    let scalars = text.unicodeScalars
    for (place, scalar) in zip(scalars.indices, scalars) {
      switch scalar {
      // A word joiner (U+2060) keeps `fa:fa-name` from becoming an icon.
      case ":" where scalars[place...].starts(with: ":fa-".unicodeScalars): result += "#58;#8288;"
      case "0"..."9", "A"..."Z", "a"..."z", " ", "_", "-", ".", "/", "+", ",", "(", ")", "=", "[",
        "]", "…":
        result.unicodeScalars.append(scalar)
      case "\t": result += " "
      default:
        if scalar.value > 0x9F {
          result.unicodeScalars.append(scalar)
        } else {
          result += "#\(scalar.value);"
        }
      }
    }
    return result
  }
}

/// A node's look in a run: color, frame and word, each sufficient.
enum GraphShade: String, CaseIterable {
  case good, bad, odd, live, waits, skipped

  init(_ state: TaskState) {
    switch state {
    case .succeeded, .upToDate: self = .good
    case .failed: self = .bad
    case .failedAllowed, .cancelled: self = .odd
    case .running, .suspended: self = .live
    case .waiting, .ready, .checking, .prefetched: self = .waits
    case .skipped: self = .skipped
    }
  }

  /// The sign is for text without colors, the meaning for the legend. Colors are light and of
  /// different brightness, for black text; frames are dark.
  var look: (sign: String, meaning: String, style: StyledLine.Style, fill: String, frame: String) {
    switch self {
    case .good: ("✔", "succeeded or up to date", .green, "#c9ecdf", "#006d4e")
    case .bad: ("✘", "failed", .red, "#f3a683", "#7a2d00")
    case .odd: ("!", "cancelled or failed (allowed)", .yellow, "#f7eeb0", "#6b5d00")
    case .live: ("▶", "running", .cyan, "#bfe1f6", "#00517c")
    case .waits: ("·", "pending", .dim, "#ffffff", "#555555")
    case .skipped: ("–", "skipped", .dim, "#e6e6e6", "#777777")
    }
  }
}

extension DrawnGraph.Node {
  /// The title, cut and escaped, the note, and the state.
  func label(_ escaped: (String) -> String, lineBreak: String) -> String {
    var short = self
    short.name = GraphLabel.shortened(name)
    let others = [note, status?.words ?? ""].filter { !$0.isEmpty }
    return ([escaped(short.title)] + others).joined(separator: lineBreak)
  }

  var status: (shade: GraphShade, words: String)? {
    guard let counts else { return nil }
    let all = MatrixGroupStatus(name: name, counts: counts)
    if taskCount > 1, !all.words.isEmpty { return (GraphShade(all.state), all.words) }
    if counts.asking > 0 { return (GraphShade(all.state), "waiting for approval") }
    return (GraphShade(all.state), all.state == .upToDate ? "up to date" : all.state.shown)
  }

  var note: String {
    [
      kind == .task(.download) ? "download" : nil, kind == .task(.approve) ? "approval" : nil,
      isFinally ? "finally" : nil, isManual ? "manual" : nil,
    ].compactMap { $0 }.joined(separator: ", ")
  }
}
