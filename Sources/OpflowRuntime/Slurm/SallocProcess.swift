internal import OpflowSystem
internal import OpflowWire

/// The salloc process that requests an allocation and keeps it (`SlurmAsking`) while `hold` is
/// open. The kernel signals it when this process dies.
final class SallocProcess {
  private let process: StartedProcess
  private var hold: Descriptor?
  private let output: Descriptor
  private let error: Descriptor
  private var said = LineBuffer(longestLineBytes: AllocationLines.longestLineBytes, bytes: 131_072)
  private var told = LineBuffer(longestLineBytes: 4096, bytes: 16_384)
  private(set) var job: Int64?
  private(set) var facts: (nodes: String, cpus: String)?
  private var complaints: [String] = []

  private static let mostComplaints = 4
  /// From SIGTERM to SIGKILL.
  private static let patienceNanoseconds: Int64 = 5_000_000_000

  init(options: [String]) throws(LaunchFailure) {
    do throws(Errno) {
      let input = try Pipe()
      let output = try Pipe()
      let error = try Pipe()
      try output.read.setNonblocking(true)
      try error.read.setNonblocking(true)
      process = StartedProcess(
        try Program.spawn(
          searching: SlurmAsking.words(options: options), input: input.read.rawValue,
          output: output.write.rawValue, error: error.write.rawValue, options: .endsWithParent))
      hold = input.takeWrite()
      self.output = output.takeRead()
      self.error = error.takeRead()
    } catch {
      let hint = error == .noSuchFile ? " (are Slurm's programs installed here?)" : ""
      throw LaunchFailure(what: "salloc cannot be started: \(error)\(hint)")
    }
  }

  /// The last one is readable when the process has ended.
  var rawDescriptors: [Int32] { [output.rawValue, error.rawValue, process.rawDescriptor] }

  /// Error messages in one line.
  var complaint: String? { complaints.isEmpty ? nil : complaints.joined(separator: "; ") }

  /// Which of the first two `rawDescriptors` have ended.
  func read() -> (output: Bool, error: Bool) {
    let outputEnded = take(output, into: &said) { line in
      guard facts == nil, let new = SlurmAsking.facts(line) else { return }
      job = new.job
      facts = (new.nodes, new.cpus)
    }
    let errorEnded = take(error, into: &told) { line in
      if let number = SlurmAsking.job(line) { job = job ?? number }
      if let complaint = SlurmAsking.complaint(line) {
        complaints.append(complaint)
        if complaints.count > Self.mostComplaints { complaints.removeFirst() }
      }
    }
    return (outputEnded, errorEnded)
  }

  private func take(
    _ descriptor: borrowing Descriptor, into lines: inout LineBuffer, _ body: (String) -> Void
  ) -> Bool {
    while true {
      do throws(Errno) {
        let count = try lines.fill { room throws(Errno) in try descriptor.read(into: room) }
        if count == 0 { return true }
      } catch .wouldBlock {
        return false
      } catch {
        return true
      }
      lines: while true {
        switch lines.nextText() {
        case .message(let line): body(line)
        case .needsMore: break lines
        case .malformed: return true
        }
      }
    }
  }

  /// Returns the allocation, or withdraws the request, and waits for the end.
  func release() {
    hold = nil
    process.terminate()
    if !process.wait(nanoseconds: Self.patienceNanoseconds) { process.kill() }
    takeEnd()
  }

  /// Reads the rest.
  func takeEnd() {
    _ = process.wait(nanoseconds: -1)
    _ = read()
  }
}
