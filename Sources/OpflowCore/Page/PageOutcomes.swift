/// How tries ended that did not go well, in words: each text once, since most are alike.
struct PageOutcomes {
  /// The first one is empty: nothing is to be said.
  private(set) var texts = [""]
  private var places: [String: Int] = ["": 0]

  /// Of a run that has more, the rest is told by the state alone.
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
