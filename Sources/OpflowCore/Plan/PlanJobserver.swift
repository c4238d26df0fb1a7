extension Plan {
  /// Whether any task has a jobserver.
  @inline(__always)
  package var hasJobservers: Bool { manifest.hasJobservers == 1 }

  /// Nil for a task that has none.
  package func jobserver(of task: TaskID) -> JobserverStyle? {
    guard hasJobservers else { return nil }
    return JobserverStyle(rawValue: UInt32(record[task.index].processes[.jobserver]))
  }
}
