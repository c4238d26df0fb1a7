internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem

/// A call of one of Slurm's programs, killed after a time limit, for example when Slurm's
/// controller is unreachable.
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

  /// Searches PATH.
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
      throw LaunchFailure(what: "\(name) cannot be started: \(error)")
    }
    deadline = Self.now.advanced(byMilliseconds: Self.patienceMilliseconds)
  }

  private static var now: Instant { Instant(nanoseconds: Clock.monotonicNanoseconds) }

  var rawDescriptor: Int32 { output.rawValue }

  /// nil until it has ended or is killed at the deadline.
  func next(at now: Instant) -> Answer? {
    do throws(Errno) {
      while try read() {}
      return end()
    } catch .wouldBlock {
      guard now >= deadline else { return nil }
      process.kill()
      _ = end()
      return Answer(hasSucceeded: false, lines: ["\(name) did not answer"])
    } catch {
      process.kill()
      _ = end()
      return Answer(hasSucceeded: false, lines: ["\(name) cannot be read: \(error)"])
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

  /// It has closed its output or was killed.
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
      // After an error, tries again until the deadline.
      _ = try? wait.wait(nanoseconds: max(0, deadline.nanoseconds - Self.now.nanoseconds))
    }
  }
}

extension SlurmProgram {
  private static let cancelMilliseconds: Int64 = 120_000

  /// Returns once Slurm has accepted the cancellation, or knows no such job; else why the job may
  /// still exist. Retries for two minutes if the controller is away.
  static func cancel(_ job: Int64) -> String? {
    let end = now.advanced(byMilliseconds: cancelMilliseconds)
    while true {
      let answer: Answer
      do throws(LaunchFailure) {
        answer = try SlurmProgram(["scancel", "--quiet", "\(job)"]).answer()
      } catch {
        return error.what
      }
      if answer.hasSucceeded || answer.lines.contains(where: { $0.contains("Invalid job id") }) {
        return nil
      }
      Clock.sleep(milliseconds: 1_000)
      if now >= end {
        return "job \(job) could not be cancelled: \(answer.lines.joined(separator: "; "))"
      }
    }
  }
}
