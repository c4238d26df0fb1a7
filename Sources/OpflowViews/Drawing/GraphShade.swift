internal import OpflowCore

/// A node's look in a run: by colour, frame and word, each sufficient.
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

  /// The sign in a text, where colours may be missing.
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

  /// The sign's meaning, for the legend.
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

  /// Light and of different brightness, for black text; dark frames.
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
  /// Nil for a manifest.
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

  var note: String {
    [
      kind == .task(.download) ? "download" : nil, kind == .task(.approve) ? "asks" : nil,
      isFinally ? "finally" : nil, isManual ? "manual" : nil,
    ].compactMap { $0 }.joined(separator: ", ")
  }
}
