/// Why tasks are in their states, in words.
extension RunStatus {
  /// In the journal's words, with what they speak of; nil where the state says it all.
  func reasonWord(_ task: TaskID) -> String? {
    let why = why(task)
    switch why {
    case nil: return nil
    case .rerun(.changed), .rerun(.afterRerun): return words(history[task])
    case .ended, .skipped, .rerun: return why?.word.description
    }
  }

  /// The reason of a record for people.
  func words(_ record: TaskRecord) -> String {
    // What was taken back unstarted is as if it had never been given out.
    record.why == .ended(.revoked) ? "" : ReasonText.text(record.why, plan: plan)
  }
}
