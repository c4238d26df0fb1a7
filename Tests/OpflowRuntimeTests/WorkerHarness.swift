import Foundation
import OpflowBase
import OpflowPlan
import OpflowSystem
import OpflowWire
import Testing

/// One task of a plan for workers.
struct WorkerTask {
  var name: String
  var script: String?
  var words: [String] = []
  var shell = ["/bin/sh", "-ec"]
  var directory: String?
  var environment: [(String, String)] = []
  var policy = TaskPolicy()

  /// A script for the shell.
  init(_ name: String, _ script: String, _ change: (inout WorkerTask) -> Void = { _ in }) {
    self.name = name
    self.script = script
    change(&self)
  }

  init(_ name: String, words: [String], _ change: (inout WorkerTask) -> Void = { _ in }) {
    self.name = name
    self.words = words
    change(&self)
  }
}

/// A real worker, driven over its pipes as a coordinator does.
final class WorkerHarness {
  let folder: String
  var workersLock: String { folder + "/workers.lock" }
  let plan: Plan
  /// Each harness has a run of its own.
  let run = "run-" + UUID().uuidString
  private(set) var hello: WorkerHello?
  private let process: SpawnedProcess
  private var messages: Descriptor?
  private let reports: Descriptor
  private let errors: Descriptor
  private let say: Descriptor
  private var said: [UInt8] = []
  private var input = LineBuffer()
  private let ids: [String: TaskID]
  /// What the task that was last said to have left something behind did leave.
  private(set) var leftBehind: LeftBehind?

  /// A task of a plan that should have an answer by now has none: only hangs run into it.
  static let patience: Int64 = 60_000_000_000

  enum Problem: Error {
    case cycle
    case malformedReport
    case endOfReports
    case hangs
    case unexpected(WorkerReport)
    case notAPID(String)
  }

  init(_ tasks: [WorkerTask]) throws {
    folder = NSTemporaryDirectory() + "opflow-worker-" + UUID().uuidString
    try Path.makeDirectories(folder + "/logs")
    try Path.makeDirectory(folder + "/work")
    let bytes = try Self.plan(tasks, directory: folder + "/work")
    try File.open(folder + "/plan", [.writeOnly, .create], mode: 0o400).writeAll(bytes)
    plan = try Plan(copying: bytes)
    ids = Dictionary(
      uniqueKeysWithValues: tasks.enumerated().map { ($1.name, TaskID($0)) })

    say = try Self.makePipe(folder + "/work/say")

    let messages = try OpflowSystem.Pipe()
    let reports = try OpflowSystem.Pipe()
    let errors = try OpflowSystem.Pipe()
    process = try Program.spawn(
      Self.program, arguments: ["worker", folder, run], input: messages.read.rawValue,
      output: reports.write.rawValue, error: errors.write.rawValue, options: .newSession)
    self.messages = try messages.write.duplicate()
    self.reports = try reports.read.duplicate()
    self.errors = try errors.read.duplicate()
  }

  deinit {
    messages = nil
    try? process.signal(.kill)
    _ = try? process.wait()
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// The program that was built along with the tests.
  static let program: String = {
    let own = (try? Path.real("/proc/self/exe")) ?? ""
    return Path.parent(of: own) + "/opflow"
  }()

  /// A named pipe in the tasks' folder, open for both, so that nobody finds it without another end.
  func makePipe(_ name: String) throws -> Descriptor { try Self.makePipe("\(folder)/work/\(name)") }

  private static func makePipe(_ path: String) throws -> Descriptor {
    guard mkfifo(path, 0o600) == 0 else { throw Errno(rawValue: errno) }
    return try File.open(path, [.readWrite, .nonblocking])
  }

  private static func plan(_ tasks: [WorkerTask], directory: String) throws -> [UInt8] {
    var builder = PlanBuilder()
    for name in ["cpu", "memory", "download"] {
      builder.resources.append(ResourceEntry(name: builder.intern(name), capacity: 0))
    }
    for task in tasks {
      var entry = TaskEntry(
        name: builder.intern(task.name), kind: task.script == nil ? .command : .shell)
      entry.record.script = builder.intern(task.script ?? "")
      entry.record.words = builder.list(task.words.map { builder.intern($0) })
      entry.record.shell = builder.list(task.shell.map { builder.intern($0) })
      entry.record.directory = builder.intern(task.directory ?? directory)
      entry.record.environment = builder.environment(
        task.environment.map {
          EnvironmentItem(name: builder.intern($0.0), value: builder.intern($0.1))
        })
      entry.policy = builder.policy(task.policy)
      _ = builder.add(entry)
      builder.endNeeds()
    }
    let manifest = ManifestEntry(
      name: builder.intern("test"), description: .empty, folder: builder.intern(directory),
      maxParallel: 0, maxFailures: 1, usesRunID: false)
    switch builder.finish(manifest: manifest, key: PlanKey(high: 1, low: 2)) {
    case .plan(let bytes): return bytes
    case .cycle: throw Problem.cycle
    }
  }

  var pid: Int32 { process.pid }
  func id(_ name: String) -> TaskID { ids[name] ?? .none }

  // MARK: Messages

  /// Messages that come together are read together: none is too late for another.
  func tell(_ messages: WorkerMessage...) throws {
    var writer = FieldWriter()
    for message in messages { MessageCodec.encode(message, into: &writer) }
    try send(String(decoding: writer.bytes, as: UTF8.self))
  }

  func send(_ text: String) throws { try messages?.writeAll(text) }
  func run(_ name: String, attempt: Int32 = 1) throws {
    try tell(.run(id(name), attempt: attempt))
  }
  func stop(_ name: String, _ reason: StopReason) throws {
    try tell(.stop(id(name), attempt: 1, reason: reason))
  }
  func closeMessages() { messages = nil }
  func signal(_ signal: Signal) throws { try process.signal(signal) }

  // MARK: Reports

  /// The next report. The hello is kept aside.
  func next() throws -> WorkerReport {
    while true {
      switch input.nextReport() {
      case .message(.hello(let hello)): self.hello = hello
      case .message(let report): return report
      case .malformed: throw Problem.malformedReport
      case .needsMore:
        var set = PollSet(slots: 1)
        set.set(0, reports.rawValue)
        guard try set.wait(nanoseconds: Self.patience) else { throw Problem.hangs }
        let count = try input.fill { room throws(Errno) in try reports.read(into: room) }
        if count == 0 { throw Problem.endOfReports }
      }
    }
  }

  /// The pid of a task that must be the next to start.
  func started(_ name: String) throws -> Int32 {
    let report = try next()
    guard case .started(id(name), _, let pid) = report else { throw Problem.unexpected(report) }
    return pid
  }

  /// The outcome of a task that must end next. Skips its start, and records its leftover processes.
  func ended(_ name: String) throws -> Outcome {
    while true {
      let report = try next()
      switch report {
      case .started(id(name), _, _): continue
      case .left(id(name), _, let left): leftBehind = left
      case .ended(id(name), _, let outcome): return outcome
      default: throw Problem.unexpected(report)
      }
    }
  }

  func refused(_ name: String) throws -> (errorNumber: Int32, detail: String) {
    let report = try next()
    guard case .refused(id(name), _, let errorNumber, let detail) = report else {
      throw Problem.unexpected(report)
    }
    return (errorNumber, detail)
  }

  /// Runs a task to its end.
  func finish(_ name: String, attempt: Int32 = 1) throws -> Outcome {
    try run(name, attempt: attempt)
    return try ended(name)
  }

  // MARK: What is left of it

  func log(_ name: String) throws -> String {
    String(decoding: try File.read(folder + "/logs/" + LogName.of(name)), as: UTF8.self)
  }
  var logNames: [String] { get throws { try Path.names(in: folder + "/logs").sorted() } }

  /// The next line that a task has written to the pipe `say` in its folder.
  func heard() throws -> String {
    while true {
      if let end = said.firstIndex(of: 10) {
        defer { said.removeSubrange(...end) }
        return String(decoding: said[..<end], as: UTF8.self)
      }
      var set = PollSet(slots: 1)
      set.set(0, say.rawValue)
      guard try set.wait(nanoseconds: Self.patience) else { throw Problem.hangs }
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = try bytes.withUnsafeMutableBufferPointer { bytes throws(Errno) in
        try say.read(into: UnsafeMutableRawBufferPointer(bytes))
      }
      said += bytes.prefix(count)
    }
  }

  /// A process that a task has named.
  func heardPID() throws -> Int32 {
    let line = try heard()
    guard let pid = Int32(line) else { throw Problem.notAPID(line) }
    return pid
  }

  /// Waits until a signal has stopped a process.
  func waitUntilStopped(_ pid: Int32) throws {
    let deadline = Clock.monotonicNanoseconds + Self.patience
    // Only its parent, the worker, could wait for this.
    while ProcessStatus.read(pid)?.state != UInt8(ascii: "T") {
      if Clock.monotonicNanoseconds > deadline { throw Problem.hangs }
      sched_yield()
    }
  }

  /// The worker's end; the messages are closed for it.
  func wait() throws -> EndedProcess.Status {
    var set = PollSet(slots: 1)
    set.set(0, process.descriptor.rawValue)
    guard try set.wait(nanoseconds: Self.patience) else { throw Problem.hangs }
    return try process.wait().status
  }

  /// What the worker wrote to standard error; once it has ended.
  func complaints() throws -> String { String(decoding: try errors.readAll(), as: UTF8.self) }

  /// Processes that carry this worker's task mark, or are below the worker.
  func survivors() -> [Int32] {
    let mark = Array("PWD=\(folder)/work".utf8)
    return ((try? Path.names(in: "/proc")) ?? []).compactMap { Int32($0) }.filter { pid in
      guard let bytes = try? File.read("/proc/\(pid)/environ") else { return false }
      return bytes.split(separator: 0).contains { $0.elementsEqual(mark) }
        && ProcessStatus.read(pid)?.isZombie == false
    }
  }

  func isAlive(_ pid: Int32) -> Bool { ProcessStatus.read(pid)?.isZombie == false }
}
