internal import OpflowCore
internal import OpflowViews

/// The ends of unsuccessful attempts, each text stored once.
struct PageOutcomes {
  /// Starts with an empty text.
  private(set) var texts = [""]
  private var places: [String: Int] = ["": 0]

  /// The rest shows only its state.
  private static let mostTexts = 2000

  init(_ attempts: [TaskAttempt]) {
    for attempt in attempts where texts.count < Self.mostTexts {
      let text = Self.text(attempt)
      if places[text] != nil { continue }
      places[text] = texts.count
      texts.append(text)
    }
  }

  func number(of attempt: TaskAttempt) -> Int { places[Self.text(attempt)] ?? 0 }

  private static func text(_ attempt: TaskAttempt) -> String {
    switch attempt.end {
    case .none, .succeeded, .lost: ""
    case .failed, .failedAllowed, .retried, .cancelled, .interrupted:
      OutcomeText.text(Outcome(status: attempt.status, reason: attempt.reason))
    }
  }
}
