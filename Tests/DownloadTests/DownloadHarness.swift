import CTransfer
import Foundation
import OpflowBase
import OpflowDownload
import OpflowPlan
import OpflowSystem
import OpflowWire

/// A real download worker, driven over its pipes as a coordinator does, on a plan of one task for
/// each download.
final class DownloadHarness {
  let folder: String
  let plan: Plan
  private let patienceMilliseconds: Int
  private let environment: [String]
  private var process: SpawnedProcess?
  private var messages: Descriptor?
  private var reports: Descriptor?
  private var input = LineBuffer()
  private(set) var progress: [WorkerProgress] = []

  /// Only hangs run into it.
  private static let hangNanoseconds: Int64 = 60_000_000_000

  enum Problem: Error { case noPlan, malformed, hangs, gone, ended(Outcome) }

  /// How a try ended.
  struct End {
    var outcome: Outcome
    var report: FetchReport
  }

  /// - Parameters:
  ///   - downloads: relative targets are put into the harness's own folder.
  ///   - patienceMilliseconds: how long the worker bears a server that sends nothing.
  ///   - environment: `NAME=VALUE`, over the inherited ones.
  init(
    _ downloads: [DownloadSpec], patienceMilliseconds: Int = 30_000, environment: [String] = [],
    policy: TaskPolicy = TaskPolicy()
  ) throws {
    folder = NSTemporaryDirectory() + "opflow-download-" + UUID().uuidString
    self.patienceMilliseconds = patienceMilliseconds
    self.environment = environment
    try Path.makeDirectories(folder + "/runs/1/logs")
    try Path.makeDirectories(folder + "/work")
    let bytes = try Self.plan(downloads, in: folder + "/work", policy: policy)
    try File.open(folder + "/runs/1/plan", [.writeOnly, .create], mode: 0o400).writeAll(bytes)
    plan = try Plan(copying: bytes)
    try launch()
  }

  deinit {
    kill()
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// The program that was built along with the tests.
  static let program: String = {
    let own = (try? Path.real("/proc/self/exe")) ?? ""
    return Path.parent(of: own) + "/opflow-download"
  }()

  func launch() throws {
    let messages = try OpflowSystem.Pipe()
    let reports = try OpflowSystem.Pipe()
    process = try Program.spawn(
      Self.program, arguments: ["worker", folder + "/runs/1", "1", "\(patienceMilliseconds)"],
      additions: environment, input: messages.read.rawValue, output: reports.write.rawValue,
      error: 2,
      options: .newSession)
    self.messages = try messages.write.duplicate()
    self.reports = try reports.read.duplicate()
    input = LineBuffer()
    guard case .hello = try next() else { throw Problem.malformed }
  }

  /// Ends the worker as a crash would.
  func kill() {
    messages = nil
    try? process?.signal(.kill)
    _ = try? process?.wait()
    process = nil
  }

  /// Lets go of the worker's messages, and waits until it has left.
  func leave() throws {
    messages = nil
    _ = try process?.wait()
    process = nil
  }

  var pid: Int32 { process?.pid ?? 0 }
  func path(_ name: String) -> String { folder + "/work/" + name }
  func content(_ name: String) -> [UInt8]? { try? File.read(path(name)) }

  // MARK: - Talking

  func tell(_ message: WorkerMessage) throws { try tellAll([message]) }

  /// Gives them in one write.
  func tellAll(_ list: [WorkerMessage]) throws {
    var writer = FieldWriter()
    for message in list { MessageCodec.encode(message, into: &writer) }
    try messages?.writeAll(writer.bytes)
  }

  func run(_ task: Int = 0, attempt: Int32 = 1) throws {
    try tell(.run(TaskID(task), attempt: attempt))
  }

  func next() throws -> WorkerReport {
    while true {
      switch input.nextReport() {
      case .message(let report): return report
      case .malformed: throw Problem.malformed
      case .needsMore: try read()
      }
    }
  }

  private func read() throws {
    var poll = PollSet(slots: 1)
    poll.set(0, reports?.rawValue ?? -1)
    guard try poll.wait(nanoseconds: Self.hangNanoseconds) else { throw Problem.hangs }
    let count = try input.fill { room in try reports?.read(into: room) ?? 0 }
    if count == 0 { throw Problem.gone }
  }

  /// Waits for the end of the running attempt; progress before it is kept in `progress`.
  func end() throws -> End {
    var report = FetchReport()
    while true {
      switch try next() {
      case .fetched(_, _, let record): report = record.report
      case .ended(_, _, let outcome): return End(outcome: outcome, report: report)
      case .progress(let told): progress.append(told)
      case .hello, .started, .refused, .lacks, .revoked, .left, .value, .kept, .fault, .pulse,
        .checked,
        .awaits, .recorded, .changed, .restored, .ready, .tokens, .warning:
        break
      }
    }
  }

  /// Waits until the worker reports at least this many bytes.
  func progress(_ bytes: Int64) throws {
    while true {
      switch try next() {
      case .progress(let told):
        progress.append(told)
        if told.doneBytes >= bytes { return }
      case .ended(_, _, let outcome): throw Problem.ended(outcome)
      case .fetched, .hello, .started, .refused, .lacks, .revoked, .left, .value, .kept, .fault,
        .pulse,
        .checked, .awaits, .recorded, .changed, .restored, .ready, .tokens, .warning:
        break
      }
    }
  }

  /// Tries until success, until another try is of no use, or five times.
  func tries(_ task: Int = 0) throws -> [End] {
    var ends: [End] = []
    while ends.count < 5 {
      try run(task, attempt: Int32(ends.count + 1))
      ends.append(try end())
      let last = ends[ends.count - 1].outcome
      if last.isSuccess || last.reason == .fetchFinal { break }
    }
    return ends
  }

  // MARK: - Plans

  private static func plan(
    _ downloads: [DownloadSpec], in folder: String, policy: TaskPolicy
  ) throws -> [UInt8] {
    var builder = PlanBuilder()
    for name in ["cpu", "memory", "download"] {
      builder.resources.append(ResourceEntry(name: builder.intern(name), capacity: 0))
    }
    for (index, spec) in downloads.enumerated() {
      let target = spec.target.hasPrefix("/") ? spec.target : folder + "/" + spec.target
      var entry = DownloadEntry(
        target: builder.intern(target),
        sources: builder.list(spec.sources.map { builder.intern($0) })
      )
      entry.sha256 = builder.intern(spec.sha256)
      entry.sha512 = builder.intern(spec.sha512)
      if let size = spec.sizeBytes { entry.sizeBytes = UInt64(size) }
      entry.headers = builder.variables(
        spec.headers.map {
          EnvironmentItem(name: builder.intern($0.name), value: builder.intern($0.value))
        })
      if let mode = spec.mode { entry.mode = mode }
      entry.resumes = spec.resumes ? 1 : 0
      entry.maxBytesPerSecond = UInt64(spec.maxBytesPerSecond)
      var task = TaskEntry(name: builder.intern("download-\(index)"), kind: .download)
      task.record.directory = builder.intern(folder)
      task.policy = builder.policy(policy)
      task.record.download = builder.download(entry)
      _ = builder.add(task)
      builder.endNeeds()
    }
    let manifest = ManifestEntry(
      name: builder.intern("test"), description: .empty, folder: builder.intern(folder),
      maxParallel: 0, maxFailures: 1, usesRunID: false)
    guard case .plan(let bytes) = builder.finish(manifest: manifest, key: PlanKey(high: 1, low: 2))
    else { throw Problem.noPlan }
    return bytes
  }
}

/// SHA-2 in hexadecimal.
func sha(_ bytes: [UInt8], bits: Int32 = 256) -> String {
  let hash = ctransfer_hash_create(bits)
  defer { ctransfer_hash_free(hash) }
  var result = [UInt8](repeating: 0, count: 64)
  ctransfer_hash_update(hash, bytes, bytes.count)
  let count = ctransfer_hash_result(hash, &result)
  return result.prefix(Int(count)).map { String($0, radix: 16) }
    .map { $0.count == 1 ? "0" + $0 : $0 }.joined()
}
