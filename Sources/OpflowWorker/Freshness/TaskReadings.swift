internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem

/// Inputs other than files: variables, outputs of commands and outputs of dependencies.
final class TaskReadings {
  private let plans: WorkerPlan
  private var plan: Plan { plans.current }
  private let records: RecordPlace
  private let book: RecordBook?
  private let hashes: FileMemory
  /// The output of a failed command may be shown.
  private let showsPrinted: Bool
  /// Results by command, with the number of tasks that had ended before.
  private var printed: [Command: (after: Int32, result: Result<SuccessRecord.Reading, ScanFault>)] =
    [:]
  private var hasRunCommands = false
  /// The same for the outputs of dependencies.
  private var left: [TaskID: (after: Int32, content: PlanKey)] = [:]

  /// Bytes, because Swift strings of different bytes may be equal.
  private struct Command: Hashable {
    var words: [[UInt8]]
    var folder: [UInt8]
    var environment: UInt32
  }

  /// An input command should only print a version; it blocks the worker while it runs.
  private static let patienceSeconds: Int64 = 8
  private static let mostPrinted = 16 << 20

  init(
    _ plans: WorkerPlan, records: RecordPlace, book: RecordBook?, hashes: FileMemory,
    showsPrinted: Bool = true
  ) {
    self.plans = plans
    self.showsPrinted = showsPrinted
    self.records = records
    self.book = book
    self.hashes = hashes
  }

  /// Another run may have changed something.
  func forget() {
    printed.removeAll()
    left.removeAll()
  }

  /// An input command ran since the last call: it may have left processes that cannot be ended.
  func takeHasRunCommands() -> Bool {
    defer { hasRunCommands = false }
    return hasRunCommands
  }

  fileprivate struct NeedScan {
    let files: FileScan
    let known: (record: SuccessRecord, place: RecordIndex.Place?)?
  }

  /// Scans the outputs of a task's dependencies, in small steps.
  struct NeedsScan {
    fileprivate var contents: [TaskID: PlanKey] = [:]
    fileprivate var look: NeedScan?
  }

  /// `needs` is complete. Results stay valid while `after`, the number of tasks that have ended in
  /// this session, is the same; nil reads everything again.
  func all(
    of declaring: DeclaringTask, _ needs: NeedsScan, after: Int32?
  ) throws(ScanFault) -> [SuccessRecord.Reading] {
    var readings: [SuccessRecord.Reading] = []
    for entry in plan.otherInputs(of: declaring.task) {
      switch entry {
      case .path, .glob: break
      case .environment(let name):
        let value: [UInt8] = declaring.variable(name).map { [1] + $0 } ?? [0]
        readings.append(
          SuccessRecord.Reading(
            kind: .variable, name: Array(name.utf8), content: hashes.hash.of(value)))
      case .command(let words): readings.append(try reading(words, of: declaring, after))
      }
    }
    for edge in plan.needs(declaring.task) {
      let need = TaskID(plan.needTargets[edge])
      guard let content = needs.contents[need] else { continue }
      readings.append(
        SuccessRecord.Reading(kind: .need, name: Array(plan.nameBytes(need)), content: content))
    }
    return readings
  }

  /// The last recorded success.
  func lastSuccess(of task: TaskID) -> UInt64? {
    let declaring = DeclaringTask(plan: plan, task: task, records: records)
    guard let record = (try? book?.record(of: declaring.identity)) ?? nil, !record.isFailure else {
      return nil
    }
    return record.origin
  }

  private func reading(
    _ words: [String], of declaring: DeclaringTask, _ after: Int32?
  ) throws(ScanFault) -> SuccessRecord.Reading {
    let key = Command(
      words: words.map { Array($0.utf8) }, folder: Array(declaring.folder.utf8),
      environment: plan.record(declaring.task).environment)
    if let after, let known = printed[key], known.after == after { return try known.result.get() }
    var result: Result<SuccessRecord.Reading, ScanFault>
    do throws(ScanFault) {
      result = .success(try print(words, of: declaring))
    } catch {
      result = .failure(error)
    }
    // A hanging command costs its timeout only once, however many tasks name it.
    if let after { printed[key] = (after, result) }
    return try result.get()
  }

  private func print(
    _ words: [String], of declaring: DeclaringTask
  ) throws(ScanFault) -> SuccessRecord.Reading {
    let name = words.joined(separator: " ")
    if PrintingCommand.isAround(words, in: declaring.folder) {
      throw ScanFault(
        detail:
          "input command `\(name)` runs opflow, which would run the command again, without end")
    }
    let (end, printed, complaints): (PrintingCommand.End, [UInt8], [UInt8])
    let left: String
    do throws(Errno) {
      var command = try PrintingCommand(
        words, in: declaring.folder, environment: declaring.environment)
      (end, printed) = try command.finish(
        limit: Self.mostPrinted, patienceSeconds: Self.patienceSeconds)
      complaints = command.complaints
      hasRunCommands = true
      command.endChildren()
      left = command.leftText
    } catch {
      throw ScanFault(detail: "cannot run the input command `\(name)`: \(error)")
    }
    switch end {
    case .exit(0):
      return SuccessRecord.Reading(
        kind: .command, name: Array(name.utf8),
        content: hashes.hash.of(Array("0\n".utf8) + printed + [0] + complaints))
    case .exit(let code):
      let last = showsPrinted ? (complaints.isEmpty ? printed : complaints) : []
      let detail = Self.failure(name, code, last)
      return SuccessRecord.Reading(kind: .failure, name: detail, content: hashes.hash.of(detail))
    case .signal(let number):
      throw ScanFault(detail: "input command `\(name)` was ended by signal \(number)")
    case .printedTooMuch:
      throw ScanFault(
        detail: "input command `\(name)` printed more than \(Self.mostPrinted >> 20) MiB\(left)")
    case .tookTooLong:
      throw ScanFault(
        detail: "input command `\(name)` took longer than \(Self.patienceSeconds) seconds\(left)")
    }
  }

  /// Ends with the command's last line of output.
  private static func failure(_ name: String, _ code: Int32, _ printed: [UInt8]) -> [UInt8] {
    let lines = printed.split { $0 == Field.lineFeed || $0 == Field.carriageReturn }
    let line = lines.last { !$0.allSatisfy { $0 == UInt8(ascii: " ") || $0 == Field.tab } } ?? []
    let start = "input command `\(shortened(name))` failed: exit \(code)"
    let end = line.isEmpty ? "" : ": \(shortened(String(decoding: line, as: UTF8.self)))"
    return Array((start + end).utf8)
  }

  /// Two such texts and a few words fit into a reason.
  private static func shortened(_ text: String) -> String {
    text.utf8.count <= 56 ? text : String(text.prefix(55)) + "…"
  }

  // MARK: - Needs

  /// Returns true when complete. `after` as in `all`, since thousands of tasks may have the same
  /// dependency.
  func goOn(
    _ needs: inout NeedsScan, of declaring: DeclaringTask, after: Int32?, until deadline: Int64
  ) throws(ScanFault) -> Bool {
    for edge in plan.needs(declaring.task) {
      let need = TaskID(plan.needTargets[edge])
      guard plan.declaresOutputs(need), needs.contents[need] == nil else { continue }
      if let after, let known = left[need], known.after == after {
        needs.contents[need] = known.content
        continue
      }
      let look = if let look = needs.look { look } else { try look(at: need) }
      needs.look = look
      guard try look.files.goOn(until: deadline) else { return false }
      needs.look = nil
      let content = content(of: look.files)
      needs.contents[need] = content
      if let after { left[need] = (after, content) }
      remember(look, of: need)
    }
    return true
  }

  private func look(at need: TaskID) throws(ScanFault) -> NeedScan {
    let declaring = DeclaringTask(plan: plan, task: need, records: records)
    let identity = declaring.identity
    var known: (record: SuccessRecord, place: RecordIndex.Place?)?
    if let record = (try? book?.record(of: identity)) ?? nil, record.hash == hashes.hash {
      known = (record, book?.place(of: identity))
    }
    let look = try FileScan(
      declaring.outputs, in: declaring.folder, memory: known?.record.followedOutputs ?? [],
      hashes: hashes, links: declaring.followedOutputLinks, written: .insteadOfNone)
    return NeedScan(files: look, known: known)
  }

  private func content(of look: FileScan) -> PlanKey {
    var bytes: [UInt8] = []
    for files in [look.files, look.links] {
      for place in files.indices {
        files.withPath(place) { bytes.append(contentsOf: $0) }
        bytes += [0, files.kind(place).rawValue]
        let content = files.content(place)
        withUnsafeBytes(of: (content.high, content.low)) { bytes += $0 }
      }
    }
    return hashes.hash.of(bytes)
  }

  /// Records hashes of link targets, which later runs then need not read; the scan of the
  /// dependency itself does not read them.
  private func remember(_ look: NeedScan, of need: TaskID) {
    guard let book, let known = look.known, look.files.hasRead, !look.files.links.isEmpty else {
      return
    }
    var record = known.record
    record.setTargets(look.files.files)
    if record.targets == known.record.targets { return }
    let identity = DeclaringTask(plan: plan, task: need, records: records).identity
    // A failure only costs time.
    try? book.refresh(
      identity, with: record, name: plan.nameBytes(need), insteadOf: known.place,
      atMilliseconds: Clock.wallMilliseconds)
  }
}
