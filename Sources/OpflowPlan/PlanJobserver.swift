extension Plan {
  @inline(__always)
  package var hasJobservers: Bool { manifest.hasJobservers == 1 }

  package func jobserver(of task: TaskID) -> JobserverStyle? {
    guard hasJobservers else { return nil }
    return JobserverStyle(rawValue: UInt32(record[task.index].processes[.jobserver]))
  }
}
