/// What the journal tells of tasks beyond their records, for views: of most tasks nothing.
package struct TaskDetails: Sendable {
  /// What downloads that have succeeded found.
  package private(set) var downloads: [TaskID: FetchRecord] = [:]
  /// What was the matter with tasks whose last try failed, in words.
  package private(set) var complaints: [TaskID: String] = [:]

  mutating func apply(
    _ event: TransitionEvent, _ task: TaskID, _ line: JournalLine, _ fields: TransitionFields
  ) {
    switch event {
    case .start, .resume:
      downloads[task] = nil
      complaints[task] = nil
    case .success: downloads[task] = FetchReport.inFields(of: line)
    case .failure, .retry:
      complaints[task] = fields.what.isEmpty ? nil : Field.text(fields.what)
    case .skip, .cancel, .interrupt, .pause, .proceed: break
    }
  }
}
