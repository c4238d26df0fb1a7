// The stream of a site
// ====================
//
// One stream of lines each way joins the coordinator and the agent of a machine, whatever carries it. A
// line is a message of the worker protocol with its worker's number in front, or one of the agent's own;
// at most 1,024 bytes with the LF, above which some transports hold lines back.
//
//   to the agent                        from the agent
//   N ORDER                             N REPORT
//   launch N KIND                       gone N [TEXT]
//   kill N
//
// Fields are separated by TAB. A worker's number is given once: N is between its `launch` and its `gone`
// or means nothing. `gone` comes last of a worker, when nothing of it and below it is left, also where it
// could not be launched; TEXT says why. Every `kill` of a worker that is not gone is answered by it.

package enum RelayLines {
  /// The line feed included.
  package static let longestLineBytes = 1024

  /// What a line of an agent's is.
  package enum Report: Equatable, Sendable {
    /// A line of that worker's, which was set aside.
    case line(WorkerID)
    case gone(WorkerID, complaint: String?)
  }

  /// What stands in front of an order for a worker.
  package static func number(_ worker: WorkerID, into writer: inout FieldWriter) {
    writer.number(worker.rawValue)
    writer.tab()
  }

  package static func launch(
    _ worker: WorkerID, _ kind: WorkerKind, into writer: inout FieldWriter
  ) {
    writer.raw("launch\t")
    number(worker, into: &writer)
    switch kind {
    case .command: writer.raw("command")
    case .download: writer.raw("download")
    case .check: writer.raw("check")
    // What needs a service runs beside it.
    case .service: preconditionFailure("a service's worker was asked for elsewhere")
    // There is none: the terminal is on this side.
    case .terminal: preconditionFailure("a worker at the terminal was asked for elsewhere")
    }
    writer.endLine()
  }

  package static func kill(_ worker: WorkerID, into writer: inout FieldWriter) {
    writer.raw("kill\t")
    writer.number(worker.rawValue)
    writer.endLine()
  }

  /// The report of a line, which is given without its line feed; nil when it is none. A worker's own
  /// line becomes all that is in `lines`.
  static func report(_ line: UnsafeRawBufferPointer, into lines: inout LineBuffer) -> Report? {
    var fields = MessageFields(line)
    guard let first = fields.next() else { return nil }
    if !first.equals("gone") {
      guard let worker = worker(first), first.count < line.count else { return nil }
      lines.replace(withLine: line.part(first.count + 1, line.count))
      return .line(worker)
    }
    guard let worker = fields.next().flatMap(worker) else { return nil }
    if fields.isWholeMessage { return .gone(worker, complaint: nil) }
    guard let text = fields.text(), fields.isWholeMessage else { return nil }
    return .gone(worker, complaint: text)
  }

  private static func worker(_ field: UnsafeRawBufferPointer) -> WorkerID? {
    guard let number = Field.number(field, as: Int32.self), number >= 0 else { return nil }
    return WorkerID(number)
  }
}
