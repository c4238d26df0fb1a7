import CTestSupport
import Foundation
import Glibc

/// Measures the time from a request to its effect: a client cancels running tasks of a live run one
/// by one, and the effect is the end of the task's process.
package struct RequestLatency {
  /// In milliseconds, sorted.
  package struct Times {
    package private(set) var answers: [Double] = []
    package private(set) var effects: [Double] = []
    /// Tasks per second that the run finished during the measurement; 0 for none.
    package fileprivate(set) var rate = 0.0

    fileprivate mutating func add(answer: Double, effect: Double) {
      answers.append(answer)
      effects.append(effect)
    }
    fileprivate mutating func sort() {
      answers.sort()
      effects.sort()
    }
  }

  private let program: String
  private let parent: String
  private let requests: Int

  private static let floodSeconds = 0.05

  package init(program: String, requests: Int, parent: String) {
    self.program = program
    self.requests = requests
    self.parent = parent
  }

  /// Returns the number of tasks per second that the computer can run at most.
  package func mostRate() throws -> Double {
    let count = 6000
    return try inFolder { folder in
      let tasks = (0..<count).map { "  f\($0): { run: [sleep, '0'] }\n" }.joined()
      try write("tasks:\n\(tasks)", to: folder)
      let began = Self.now
      let victim = try start(folder, parallel: 2 * Self.processors)
      guard victim.end(withinMilliseconds: 600_000) == 0 else {
        throw DrillFinding("the flood fails in \(folder)")
      }
      return Double(count) / (Self.now - began) * 1000
    }
  }

  /// - Parameter rate: the load during the measurement, in tasks per second.
  package func measure(rate: Double) throws -> Times {
    let slots = max(1, Int(rate * Self.floodSeconds))
    let flood = rate == 0 ? 0 : Int(rate * (Double(requests) * 0.06 + 20))
    return try inFolder { folder in
      var text = "resources: { flood: \(slots) }\nmax_failures: 0\ntasks:\n"
      for index in 0..<requests {
        text +=
          "  v\(index): { priority: 100, run: 'echo $$ > pids/v\(index).new;"
          + " mv pids/v\(index).new pids/v\(index); exec sleep 10000' }\n"
      }
      for index in 0..<flood {
        text +=
          "  f\(index): { run: [sleep, '\(Self.floodSeconds)'], resources: { cpu: 0, flood: 1 } }\n"
      }
      try write(text, to: folder)
      let victim = try start(folder, parallel: requests + slots)
      defer { kill(victim.pid, SIGTERM) }
      let processes = try (0..<requests).map { try process(of: $0, in: folder, victim) }
      defer { for process in processes { close(process) } }
      return try ask(processes, in: folder, victim)
    }
  }

  private func ask(
    _ processes: [Int32], in folder: String, _ victim: Victim
  ) throws -> Times {
    guard let path = JournalProof.newestPath(in: folder) else { throw DrillFinding("no journal") }
    let key = try String(contentsOfFile: path, encoding: .utf8).prefix { $0 != "\n" }
      .split(separator: "\t").first { $0.hasPrefix("plan=") }
    let run = open((path as NSString).deletingLastPathComponent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(run) }
    let connection = RequestClient(
      number: 0, folder: run, plan: "", tasks: processes.count, answers: RequestAnswers(limit: 0))
    let pause = RequestAnswers(limit: 0)
    var times = Times()
    let (began, before) = (Self.now, try ends(path))
    for (index, process) in processes.enumerated() {
      let asked = Self.now
      let answer = connection.ask("order\tl.\(index)\tcancel\t\(key ?? "")\ttasks=\(index)\n")
      let answered = Self.now
      guard let answer, answer.hasPrefix("done\t") else {
        throw DrillFinding("v\(index) is not cancelled: \(answer ?? "no answer") in \(folder)")
      }
      var event = pollfd(fd: process, events: Int16(POLLIN), revents: 0)
      guard poll(&event, 1, 60_000) > 0 else { throw DrillFinding("v\(index) does not end") }
      times.add(answer: answered - asked, effect: Self.now - asked)
      // Avoids both resonance and queueing of requests.
      pause.rest(milliseconds: 20 + 7919 * index % 20)
    }
    times.rate = Double(try ends(path) - before - processes.count) / (Self.now - began) * 1000
    times.sort()
    return times
  }

  private func ends(_ journal: String) throws -> Int {
    try String(contentsOfFile: journal, encoding: .utf8).split(separator: "\n").count {
      $0.contains("\tsuccess\t") || $0.contains("\tcancel\t")
    }
  }

  /// Opens a task's process as soon as it has written its ID.
  private func process(of index: Int, in folder: String, _ victim: Victim) throws -> Int32 {
    for _ in 0..<6000 {
      if let text = try? String(contentsOfFile: "\(folder)/pids/v\(index)", encoding: .utf8),
        let pid = pid_t(text.dropLast())
      {
        let descriptor = ctest_pidfd_open(pid)
        if descriptor >= 0 { return descriptor }
      }
      if victim.end(withinMilliseconds: 10) != nil { break }
    }
    throw DrillFinding("v\(index) does not begin in \(folder)")
  }

  private func start(_ folder: String, parallel: Int) throws -> Victim {
    try Victim(
      program, ["run", "--output", "quiet", "-j\(parallel)"], folder: folder,
      mark: UUID().uuidString)
  }

  private func write(_ manifest: String, to folder: String) throws {
    try manifest.write(toFile: folder + "/opflow.yaml", atomically: false, encoding: .utf8)
  }

  private func inFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
    let folder = parent + "/opflow-latency-" + UUID().uuidString
    try FileManager.default.createDirectory(
      atPath: folder + "/pids", withIntermediateDirectories: true)
    let result = try body(folder)
    try FileManager.default.removeItem(atPath: folder)
    return result
  }

  private static var processors: Int { ProcessInfo.processInfo.activeProcessorCount }

  /// The monotonic clock in milliseconds.
  private static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1_000_000
  }
}
