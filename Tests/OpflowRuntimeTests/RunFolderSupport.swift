import Foundation
import OpflowBase
import OpflowJournal
import OpflowPlan
import OpflowRuntime
import OpflowSystem

/// A state folder in a place of its own that goes with its owner.
final class StateFixture {
  let root: String
  let state: StateFolder
  let plan: Plan
  let planBytes: [UInt8]

  init() throws {
    let place = NSTemporaryDirectory() + "opflow-state-" + UUID().uuidString
    try Path.makeDirectory(place)
    root = try Path.real(place)
    state = StateFolder(path: root + "/.opflow")
    planBytes = try Self.planBytes(["a", "b", "c"], key: 1)
    plan = try Plan(copying: planBytes)
  }

  /// A plan of tasks of those names.
  static func planBytes(_ names: [String], key: UInt64) throws -> [UInt8] {
    var builder = PlanBuilder()
    for name in names {
      var entry = TaskEntry(name: builder.intern(name), kind: .shell)
      entry.policy = builder.policy(TaskPolicy())
      _ = builder.add(entry)
      builder.endNeeds()
    }
    let manifest = ManifestEntry(
      name: .empty, description: .empty, folder: .empty, maxParallel: 0, maxFailures: 1,
      usesRunID: false)
    guard
      case .plan(let bytes) = builder.finish(manifest: manifest, key: PlanKey(high: 0, low: key))
    else { throw RunFolderError.noRuns(folder: "") }
    return bytes
  }

  deinit { try? FileManager.default.removeItem(atPath: root) }

  func write(_ name: String, _ text: String = "") throws -> String {
    let path = root + "/" + name
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  /// A run of that manifest that was begun, and ended so.
  @discardableResult
  func run(
    of manifest: String, at seconds: Int64, random: UInt16 = 7, set: [String] = [],
    end: RunState? = nil
  ) throws -> RunFolder {
    let folder = try state.makeRun(nowMilliseconds: seconds * 1000, random: random)
    var journal = WrittenJournal(try JournalFile.create(folder.journal))
    var open = OpenEntry(
      run: folder.id.description, planKey: plan.key.description, opflowVersion: "0",
      manifestPath: manifest, folder: root)
    open.stateFolder = state.path
    open.set = set
    journal.append(.open(open), at: 1, plan: plan)
    journal.append(Transition(.start, TaskID(0), attempt: 1), at: 2, plan: plan)
    if let end { journal.append(.close(CloseEntry(state: end, exitCode: 0)), at: 3, plan: plan) }
    try journal.flush()
    return folder
  }

  func bytes(_ path: String) throws -> [UInt8] { try File.read(path) }
}

/// A journal's file with an encoder for its lines.
struct WrittenJournal: ~Copyable {
  private var file: JournalFile
  private var encoder: JournalEncoder
  private(set) var writtenBytes: UInt64 = 0

  init(_ file: consuming JournalFile, _ encoder: JournalEncoder = JournalEncoder()) {
    self.encoder = encoder
    self.file = file
  }

  mutating func append(_ entry: JournalEntry, at milliseconds: Int64, plan: Plan) {
    encoder.append(entry, at: milliseconds, plan: plan)
  }

  mutating func append(_ transition: Transition, at milliseconds: Int64, plan: Plan) {
    encoder.append(transition, at: milliseconds, plan: plan)
  }

  mutating func flush() throws(Errno) {
    try file.write(encoder.bytes)
    writtenBytes += UInt64(encoder.bytes.count)
    encoder.removeAll()
  }

  mutating func syncNow() throws(Errno) { try file.syncNow() }

  borrowing func makeSyncer() throws(Errno) -> Syncer { try file.makeSyncer() }
}

extension RunFolder {
  /// Waits until nobody has its lock, which was let go. A process that another test starts just
  /// then has all descriptors of this one until it executes its program.
  func waitUntilFree() throws {
    while try RunFolderLock.isHeld(self) { sched_yield() }
  }
}
