internal import OpflowSystem

/// A command on this machine that carries the stream to an agent. It leads a session of its own, so
/// that keys of the terminal do not reach it. Its whole process group is killed before it is reaped
/// (`end`), since it may be a shell that ends before its children.
final class SiteTransport {
  private let process: StartedProcess
  private let complaints: ComplaintFile
  private let complaintStart: Int64

  /// `body` gets the near ends of its standard output and input.
  static func start<Result>(
    _ words: [String], complaints: ComplaintFile,
    _ body: (SiteTransport, consuming Descriptor, consuming Descriptor) throws(Errno) -> Result
  ) throws(LaunchFailure) -> Result {
    let name = words.first ?? ""
    let what = "`\(name)` cannot be started"
    let orders = try LaunchFailure.naming(what) { () throws(Errno) in try Pipe() }
    let reports = try LaunchFailure.naming(what) { () throws(Errno) in try Pipe() }
    let start = try LaunchFailure.naming(what) { () throws(Errno) in try complaints.end() }
    let process = try LaunchFailure.naming(what) { () throws(Errno) in
      StartedProcess(
        try Program.spawn(
          searching: words, input: orders.read.rawValue, output: reports.write.rawValue,
          error: complaints.rawDescriptor, options: .newSession))
    }
    let transport = SiteTransport(process, complaints, complaintStart: start)
    do throws(Errno) {
      return try body(transport, reports.takeRead(), orders.takeWrite())
    } catch {
      transport.end()
      throw LaunchFailure(
        what: "the stream of `\(name)` cannot be watched: \(error)", isShortage: error.isShortage)
    }
  }

  private init(
    _ process: StartedProcess, _ complaints: ComplaintFile, complaintStart: Int64
  ) {
    self.process = process
    self.complaints = complaints
    self.complaintStart = complaintStart
  }

  var rawDescriptor: Int32 { process.rawDescriptor }

  var pid: Int32? { process.pid }

  var isOver: Bool { process.isOver }

  /// Kills the command and its children. Returns whether it has ended.
  @discardableResult
  func end() -> Bool {
    process.killGroup()
    return process.reap()
  }

  /// nil before its end was seen (`end`), or if a signal ended it.
  var exitCode: Int32? {
    if case .exit(let code) = process.status { code } else { nil }
  }

  var complaint: String { complaints.text(from: complaintStart) }
}
