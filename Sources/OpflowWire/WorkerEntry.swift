package import OpflowBase
package import OpflowPlan

/// Identifies a worker, so that a resume finds the processes that workers of a dead run left.
package struct WorkerEntry: Sendable, Equatable {
  /// `none` in journals of older versions.
  package var worker: WorkerID
  package var pid: Int32
  /// Clock ticks since boot (proc(5), field 22 of stat).
  package var startTime: UInt64
  package var bootID: String
  /// Unique per boot; 0 if autogroups are off (sched(7), "The autogroup feature").
  package var autogroup: UInt64
  /// Older versions left the coordinator's host empty.
  package var host: String
  package var node = NodeID.local
  /// Empty for a worker that the coordinator started itself. Older versions wrote no node, and no
  /// boot ID for other workers.
  package var hostOfOthers: String { node == .local && !bootID.isEmpty ? "" : host }

  package init(
    worker: WorkerID = .none, pid: Int32, startTime: UInt64, bootID: String, autogroup: UInt64 = 0,
    host: String = ""
  ) {
    self.worker = worker
    self.pid = pid
    self.startTime = startTime
    self.bootID = bootID
    self.autogroup = autogroup
    self.host = host
  }
}

/// Processes that a worker or its agent could not end, as a line of a file in the run's folder.
/// Messages about them have no reader if the coordinator or the agent is dead.
///
///     TASK ATTEMPT PID START GROUP HOST BOOT NAMES [PIDS]
///
/// Fields are separated by TAB. PID, START, GROUP, HOST and BOOT identify the worker. TASK is -1 if
/// the writer does not know it.
package struct SurvivorNote: Equatable, Sendable {
  package var task: TaskID
  package var attempt: Int32
  package var worker: WorkerEntry
  package var left: LeftBehind

  package init(task: TaskID, attempt: Int32, worker: WorkerEntry, left: LeftBehind) {
    self.task = task
    self.attempt = attempt
    self.worker = worker
    self.left = left
  }

  /// True if the note is, or may be, about this attempt of the worker `other`.
  package func isAbout(_ task: TaskID, _ attempt: Int32, of other: WorkerEntry) -> Bool {
    worker.pid == other.pid && worker.host == other.host
      && (self.task.isNone || self.task == task && self.attempt == attempt)
  }

  /// Entries of the worker with each process's pid and start time.
  package var processes: [WorkerEntry] {
    left.processes.map { mark in
      var process = worker
      process.pid = mark.pid
      process.startTime = mark.startTime
      return process
    }
  }

  package func write(into writer: inout FieldWriter) {
    let start = writer.bytes.count
    writer.number(task.rawValue)
    writer.field(attempt)
    writer.field(worker.pid)
    writer.field(worker.startTime)
    writer.field(worker.autogroup)
    writer.field(worker.host)
    writer.field(worker.bootID)
    writer.left(left, lineStart: start)
    writer.endLine()
  }

  /// Parses complete lines; skips invalid ones.
  package static func read(_ bytes: [UInt8]) -> [SurvivorNote] {
    // A writer that died may have left the start of a line.
    let complete = bytes.prefix((bytes.lastIndex(of: Field.lineFeed) ?? -1) + 1)
    return complete.split(separator: Field.lineFeed).compactMap { line in
      line.withUnsafeBytes { SurvivorNote($0) }
    }
  }

  private init?(_ line: UnsafeRawBufferPointer) {
    var fields = MessageFields(line)
    guard let task = fields.number(as: Int32.self), task >= TaskID.none.rawValue,
      let attempt = fields.attempt(), let pid = fields.natural(as: Int32.self), pid > 1,
      let start = fields.natural(as: UInt64.self), let group = fields.natural(as: UInt64.self),
      let host = fields.text(), let boot = fields.text(), let left = fields.left(),
      left.areAlive, fields.isWholeMessage
    else { return nil }
    self.init(
      task: TaskID(task), attempt: attempt,
      worker: WorkerEntry(pid: pid, startTime: start, bootID: boot, autogroup: group, host: host),
      left: left)
  }
}
