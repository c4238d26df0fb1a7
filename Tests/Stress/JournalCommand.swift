import Glibc
import OpflowBase
import OpflowJournal
import OpflowPlan

/// `journal append COUNT FILE`: writes a journal of COUNT lines, 64 per write. `journal replay
/// COUNT FILE`: reads it like a resume. Both print CPU and wall time in microseconds and the peak
/// resident set in KiB, like `clock` of scripts/bench, without the cost of the plan.
struct JournalCommand {
  private let isReplay: Bool
  private let count: Int
  private let file: String

  init?(_ arguments: [String]) {
    guard arguments.count == 3, let count = Int(arguments[1]), count > 0 else { return nil }
    switch arguments[0] {
    case "append": isReplay = false
    case "replay": isReplay = true
    default: return nil
    }
    self.count = count
    file = arguments[2]
  }

  func run() -> Int32 {
    // Each task has two lines.
    guard let plan = try? chainlessPlan(taskCount: (count + 1) / 2) else { return 70 }
    let before = Cost.now
    let status = isReplay ? replay(plan) : append(plan)
    let cost = Cost.now - before
    print("\(cost.cpuMicroseconds) \(cost.wallMicroseconds) \(Cost.peakKibibytes)")
    return status
  }

  private func append(_ plan: Plan) -> Int32 {
    let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0o600)
    guard descriptor >= 0 else { return 74 }
    defer { close(descriptor) }
    var encoder = JournalEncoder()
    encoder.append(
      .open(
        OpenEntry(
          run: "bench", planKey: "\(plan.key)", opflowVersion: "bench", manifestPath: "/bench.yaml",
          folder: "/")), at: 1_700_000_000_000, plan: plan)
    for line in 1..<count {
      let task = TaskID(Int32((line - 1) / 2))
      var transition = Transition(line % 2 == 1 ? .start : .success, task, attempt: 1)
      if transition.event == .start { transition.worker = WorkerID(0) }
      if transition.event == .success {
        transition.outcome = Outcome(status: .success)
        transition.outcome.usage.wallMicroseconds = 12_000
        transition.outcome.usage.peakKibibytes = 2048
        transition.fingerprint = plan.fingerprint(task)
      }
      encoder.append(transition, at: 1_700_000_000_000 + Int64(line), plan: plan)
      if line % 64 == 0 || line == count - 1 {
        let written = encoder.bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard written == encoder.bytes.count else { return 74 }
        encoder.removeAll()
      }
    }
    return 0
  }

  private func replay(_ plan: Plan) -> Int32 {
    let descriptor = open(file, O_RDONLY)
    guard descriptor >= 0 else { return 74 }
    defer { close(descriptor) }
    let size = lseek(descriptor, 0, SEEK_END)
    guard size > 0, let bytes = mmap(nil, Int(size), PROT_READ, MAP_PRIVATE, descriptor, 0),
      bytes != MAP_FAILED
    else { return 74 }
    defer { munmap(bytes, Int(size)) }
    do {
      let read = try RunModel.read(
        UnsafeRawBufferPointer(start: bytes, count: Int(size)), plan: plan)
      return read.recovery.lineCount == count && read.recovery.isIntact ? 0 : 1
    } catch {
      print("the journal cannot be read: \(error)")
      return 1
    }
  }

  /// Returns tasks with names of twenty bytes and without dependencies.
  private func chainlessPlan(taskCount: Int) throws -> Plan {
    var builder = PlanBuilder()
    let shell = builder.list([builder.intern("/bin/sh"), builder.intern("-ec")])
    let script = builder.intern("true")
    for number in 0..<taskCount {
      let digits = "\(number)"
      let name = "compile-" + String(repeating: "0", count: 12 - digits.count) + digits
      var entry = TaskEntry(name: builder.intern(name), kind: .shell)
      entry.record.script = script
      entry.record.shell = shell
      entry.fingerprint = Fingerprint(whole: UInt64(number) &* 0x9E37_79B9_7F4A_7C15, parts: 7)
      _ = builder.add(entry)
    }
    for _ in 0..<taskCount { builder.endNeeds() }
    let manifest = ManifestEntry(
      name: builder.intern("bench"), description: .empty, folder: builder.intern("/"),
      maxParallel: 1, maxFailures: 1, usesRunID: false)
    switch builder.finish(manifest: manifest, key: PlanKey(high: 1, low: 1)) {
    case .plan(let bytes): return try Plan(copying: bytes)
    case .cycle: fatalError("a plan without needs has no cycle")
    }
  }
}
