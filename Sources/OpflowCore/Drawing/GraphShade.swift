/// How a node looks in a run. Pictures tell it by colour, by the frame and by a word, so that each alone is
/// enough.
enum GraphShade: String, CaseIterable {
  case good, bad, odd, live, waits, skipped

  init(_ state: TaskState) {
    switch state {
    case .succeeded, .upToDate: self = .good
    case .failed: self = .bad
    case .failedAllowed, .cancelled: self = .odd
    case .running, .suspended: self = .live
    case .waiting, .ready, .checking, .handed: self = .waits
    case .skipped: self = .skipped
    }
  }

  /// In a text, where a terminal may show no colours.
  var sign: String {
    switch self {
    case .good: "✔"
    case .bad: "✘"
    case .odd: "!"
    case .live: "▶"
    case .waits: "·"
    case .skipped: "–"
    }
  }

  /// What a sign stands for.
  var meaning: String {
    switch self {
    case .good: "succeeded or up to date"
    case .bad: "failed"
    case .odd: "cancelled, or allowed to fail"
    case .live: "running"
    case .waits: "pending"
    case .skipped: "skipped"
    }
  }

  var style: StyledLine.Style {
    switch self {
    case .good: .green
    case .bad: .red
    case .odd: .yellow
    case .live: .cyan
    case .waits, .skipped: .dim
    }
  }

  /// Light colours that differ in brightness too and bear black letters; the frame is dark.
  var colors: (fill: String, frame: String) {
    switch self {
    case .good: ("#c9ecdf", "#006d4e")
    case .bad: ("#f3a683", "#7a2d00")
    case .odd: ("#f7eeb0", "#6b5d00")
    case .live: ("#bfe1f6", "#00517c")
    case .waits: ("#ffffff", "#555555")
    case .skipped: ("#e6e6e6", "#777777")
    }
  }
}

extension DrawnGraph.Node {
  /// Nil in a manifest.
  var status: (shade: GraphShade, words: String)? {
    guard let counts else { return nil }
    let all = FamilyStatus(name: name, counts: counts)
    if taskCount > 1, !all.words.isEmpty { return (GraphShade(all.state), all.words) }
    let word =
      switch all.state {
      case .failedAllowed: "failed (allowed)"
      case .upToDate: "up to date"
      case .waiting, .ready, .checking, .handed, .running, .suspended, .succeeded, .failed,
        .skipped, .cancelled:
        all.state.word
      }
    return (GraphShade(all.state), word)
  }

  /// What is to be said of it besides; nothing of most tasks.
  var note: String {
    [
      kind == .task(.download) ? "download" : nil, kind == .task(.approve) ? "asks" : nil,
      isFinally ? "finally" : nil, isManual ? "manual" : nil,
    ].compactMap { $0 }.joined(separator: ", ")
  }
}
