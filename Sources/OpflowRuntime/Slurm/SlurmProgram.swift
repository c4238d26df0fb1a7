internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

/// A call of a Slurm program, killed after a time limit, for example without Slurm's controller.
final class SlurmProgram {
  struct Answer {
    let hasSucceeded: Bool
    let lines: [String]
  }

  private let process: SpawnedProcess
  private let output: Descriptor
  private var bytes: [UInt8] = []
  let deadline: Instant
  private let name: String

  private static let patienceMilliseconds: Int64 = 10_000
  private static let mostBytes = 65_536

  init(_ words: [String]) throws(LaunchFailure) {
    name = words.first ?? ""
    do throws(Errno) {
      let pipe = try Pipe()
      try pipe.read.setNonblocking(true)
      let nothing = try File.openNull()
      process = try Program.spawn(
        searching: words, input: nothing.rawValue, output: pipe.write.rawValue,
        error: pipe.write.rawValue, options: .diesWithParent)
      output = pipe.takeRead()
    } catch {
      throw LaunchFailure(detail: "cannot start `\(name)`: \(error)")
    }
    deadline = Self.now.advanced(byMilliseconds: Self.patienceMilliseconds)
  }

  private static var now: Instant { Instant(nanoseconds: Clock.monotonicNanoseconds) }

  var rawDescriptor: Int32 { output.rawValue }

  /// nil until the program has ended or is killed at the deadline.
  func next(at now: Instant) -> Answer? {
    do throws(Errno) {
      while try read() {}
      return end()
    } catch .wouldBlock {
      guard now >= deadline else { return nil }
      process.kill()
      _ = end()
      let seconds = Self.patienceMilliseconds / 1_000
      return Answer(
        hasSucceeded: false, lines: ["`\(name)` did not answer within \(seconds) s"])
    } catch {
      process.kill()
      _ = end()
      return Answer(hasSucceeded: false, lines: ["cannot read the output of `\(name)`: \(error)"])
    }
  }

  private func read() throws(Errno) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = try buffer.withUnsafeMutableBufferPointer { room throws(Errno) in
      try output.read(into: UnsafeMutableRawBufferPointer(room))
    }
    if bytes.count < Self.mostBytes { bytes += buffer[..<count] }
    return count > 0
  }

  private func end() -> Answer {
    let status = try? process.wait().status
    let lines = bytes.split(separator: Field.lineFeed).map { String(decoding: $0, as: UTF8.self) }
    return Answer(hasSucceeded: status == .exit(0), lines: lines)
  }

  func giveUp() {
    process.kill()
    _ = end()
  }

  private func answer() -> Answer {
    var wait = PollSet(slots: 1)
    wait.set(0, rawDescriptor)
    while true {
      if let answer = next(at: Self.now) { return answer }
      // Retries after an error until the deadline.
      _ = try? wait.wait(nanoseconds: max(0, deadline.nanoseconds - Self.now.nanoseconds))
    }
  }
}

extension SlurmProgram {
  /// Returns the output of `scontrol ping` if no controller answers; nil if one does, or if there
  /// is no `scontrol`.
  static func complaintOfController() -> String? {
    guard Program.isInPath("scontrol"), let ping = try? SlurmProgram(["scontrol", "ping"]) else {
      return nil
    }
    let answer = ping.answer()
    // One line for each controller, such as `Slurmctld(backup) at n2 is UP`.
    if answer.hasSucceeded || answer.lines.contains(where: { $0.hasSuffix(" UP") }) { return nil }
    return answer.lines.joined(separator: "; ")
  }

  private static let cancelMilliseconds: Int64 = 120_000

  /// Returns nil once Slurm has accepted the cancellation or does not know the job; else why the
  /// job may still exist. Retries for two minutes without the controller.
  static func cancel(_ job: Int64) -> String? {
    let end = now.advanced(byMilliseconds: cancelMilliseconds)
    while true {
      let answer: Answer
      do throws(LaunchFailure) {
        answer = try SlurmProgram(["scancel", "--quiet", "\(job)"]).answer()
      } catch {
        return error.detail
      }
      if answer.hasSucceeded || answer.lines.contains(where: { $0.contains("Invalid job id") }) {
        return nil
      }
      Clock.sleep(milliseconds: 1_000)
      if now >= end {
        return "cannot cancel Slurm job \(job): \(answer.lines.joined(separator: "; "));"
          + " cancel it with `scancel \(job)`"
      }
    }
  }
}

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
  /// The time from SIGTERM to SIGKILL.
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
      throw LaunchFailure(detail: "salloc cannot be started: \(error)\(hint)")
    }
  }

  /// The last descriptor is readable when the process has ended.
  var rawDescriptors: [Int32] { [output.rawValue, error.rawValue, process.rawDescriptor] }

  var complaint: String? { complaints.isEmpty ? nil : complaints.joined(separator: "; ") }

  /// Returns which of the first two `rawDescriptors` have ended.
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

  /// Returns the allocation, or cancels the request, and waits for the end.
  func release() {
    hold = nil
    process.terminate()
    if !process.wait(nanoseconds: Self.patienceNanoseconds) { process.kill() }
    takeEnd()
  }

  func takeEnd() {
    _ = process.wait(nanoseconds: -1)
    _ = read()
  }
}
