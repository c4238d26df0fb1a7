/// What the journal tells of tasks beyond their records, for views: of most tasks nothing.
package struct TaskDetails: Sendable {
  /// What downloads that have succeeded found.
  package private(set) var downloads: [TaskID: FetchRecord] = [:]
  /// What was the matter with tasks whose last try failed, in words.
  package private(set) var complaints: [TaskID: String] = [:]

  /// - Parameter isDownload: whether the plan has the task as one. Of any other nothing is looked for:
  ///   a status reads hundreds of thousands of lines.
  mutating func apply(
    _ event: TransitionEvent, _ task: TaskID, _ line: JournalLine, _ fields: TransitionFields,
    isDownload: Bool
  ) {
    switch event {
    case .start, .resume:
      if !downloads.isEmpty { downloads[task] = nil }
      if !complaints.isEmpty { complaints[task] = nil }
    case .success: if isDownload { downloads[task] = FetchReport.inFields(of: line) }
    case .failure, .retry:
      complaints[task] = fields.what.isEmpty ? nil : Field.text(fields.what)
    case .skip, .cancel, .interrupt, .pause, .proceed: break
    }
  }
}
