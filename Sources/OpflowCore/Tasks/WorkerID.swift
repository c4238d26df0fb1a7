/// The number of a worker; never given twice within a drive.
package struct WorkerID: Hashable, Sendable, BitwiseCopyable {
  package var rawValue: Int32
  package init(_ rawValue: Int32) { self.rawValue = rawValue }
  package var index: Int { Int(rawValue) }
  package static let none = WorkerID(-1)
}

/// Which program a worker is, and so which actions it can do.
package enum WorkerKind: UInt8, CaseIterable, Sendable {
  case command
  case download
  /// Runs commands in the terminal's session, one of this machine's alone: so no two tasks have the
  /// terminal at once.
  case terminal
  /// Looks whether tasks are up to date, and runs none.
  case check
  /// Runs one service at a time, and looks whether it is ready: beyond those that tasks share out.
  case service
}
