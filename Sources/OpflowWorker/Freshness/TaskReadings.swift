internal import OpflowCore
internal import OpflowSystem

/// What tasks read that are no files of their own: variables, what commands print, what their needs left.
final class TaskReadings {
  private let plans: WorkerPlan
  private var plan: Plan { plans.current }
  private let records: RecordPlace
  private let book: RecordBook?
  private let hashes: FileMemory
  /// What came of commands, and how many tasks had ended before.
  private var printed: [Command: (after: Int32, result: Result<SuccessRecord.Reading, LookFault>)] =
    [:]
  /// The same of what needs left.
  private var left: [TaskID: (after: Int32, content: PlanKey)] = [:]

  /// By their bytes: texts are equal, too, that only look the same.
  private struct Command: Hashable {
    var words: [[UInt8]]
    var folder: [UInt8]
    var environment: UInt32
  }

  /// A command that is looked at as an input tells a version; who waits for it answers nobody else.
  private static let patienceSeconds: Int64 = 8
  private static let mostPrinted = 16 << 20

  init(
    _ plans: WorkerPlan, records: RecordPlace, book: RecordBook?, hashes: FileMemory
  ) {
    self.plans = plans
    self.records = records
    self.book = book
    self.hashes = hashes
  }

  /// Another run has changed something.
  func forget() {
    printed.removeAll()
    left.removeAll()
  }

  /// - Parameter after: `TaskCheck.after`; what a command printed and what a need left
  ///   holds as long as that is the same. Nil to ask anew.
  func all(of declaring: DeclaringTask, after: Int32?) throws(LookFault) -> [SuccessRecord.Reading]
  {
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
      guard plan.declaresOutputs(need) else { continue }
      readings.append(
        SuccessRecord.Reading(
          kind: .need, name: Array(plan.nameBytes(need)), content: try outputs(of: need, after)))
    }
    return readings
  }

  /// The number of a task's last success, as far as records tell.
  func lastSuccess(of task: TaskID) -> UInt64? {
    let declaring = DeclaringTask(plan: plan, task: task, records: records)
    guard let record = (try? book?.record(of: declaring.identity)) ?? nil, !record.isFailure else {
      return nil
    }
    return record.origin
  }

  private func reading(
    _ words: [String], of declaring: DeclaringTask, _ after: Int32?
  ) throws(LookFault) -> SuccessRecord.Reading {
    let key = Command(
      words: words.map { Array($0.utf8) }, folder: Array(declaring.folder.utf8),
      environment: plan.record(declaring.task).environment)
    if let after, let known = printed[key], known.after == after { return try known.result.get() }
    var result: Result<SuccessRecord.Reading, LookFault>
    do throws(LookFault) {
      result = .success(try print(words, of: declaring))
    } catch {
      result = .failure(error)
    }
    // A command that hangs costs its time once, however many tasks name it.
    if let after { printed[key] = (after, result) }
    return try result.get()
  }

  private func print(
    _ words: [String], of declaring: DeclaringTask
  ) throws(LookFault) -> SuccessRecord.Reading {
    let name = words.joined(separator: " ")
    let (end, printed, complaints): (PrintingCommand.End, [UInt8], [UInt8])
    do throws(Errno) {
      var command = try PrintingCommand(
        words, in: declaring.folder, environment: declaring.environment)
      (end, printed) = try command.finish(
        limit: Self.mostPrinted, patienceSeconds: Self.patienceSeconds)
      complaints = command.complaints
    } catch {
      throw LookFault(what: "the input `\(name)` cannot be run: \(error)")
    }
    switch end {
    case .exit(0):
      return SuccessRecord.Reading(
        kind: .command, name: Array(name.utf8),
        content: hashes.hash.of(Array("0\n".utf8) + printed + [0] + complaints))
    case .exit(let code):
      let what = Self.failure(name, code, complaints.isEmpty ? printed : complaints)
      return SuccessRecord.Reading(
        kind: .failure, name: what, content: hashes.hash.of(what))
    case .signal(let number):
      throw LookFault(what: "the input `\(name)` was ended by signal \(number)")
    case .printedTooMuch:
      throw LookFault(what: "the input `\(name)` printed more than \(Self.mostPrinted >> 20) MiB")
    case .tookTooLong:
      throw LookFault(
        what: "the input `\(name)` took longer than \(Self.patienceSeconds) seconds")
    }
  }

  /// The last line that it printed tells most.
  private static func failure(_ name: String, _ code: Int32, _ printed: [UInt8]) -> [UInt8] {
    let lines = printed.split { $0 == Field.lineFeed || $0 == Field.carriageReturn }
    let line = lines.last { !$0.allSatisfy { $0 == UInt8(ascii: " ") || $0 == Field.tab } } ?? []
    let start = "the input `\(shortened(name))` failed with exit code \(code)"
    let end = line.isEmpty ? "" : ": \(shortened(String(decoding: line, as: UTF8.self)))"
    return Array((start + end).utf8)
  }

  /// Its beginning, of which two and some words fit a reason.
  private static func shortened(_ text: String) -> String {
    text.utf8.count <= 56 ? text : String(text.prefix(55)) + "…"
  }

  /// A hash of what a need left, which thousands of tasks may ask for.
  private func outputs(of need: TaskID, _ after: Int32?) throws(LookFault) -> PlanKey {
    if let after, let known = left[need], known.after == after { return known.content }
    let content = try outputs(of: need)
    if let after { left[need] = (after, content) }
    return content
  }

  private func outputs(of need: TaskID) throws(LookFault) -> PlanKey {
    let declaring = DeclaringTask(plan: plan, task: need, records: records)
    let known = (try? book?.record(of: declaring.identity)) ?? nil
    let look = try FileLook(
      declaring.outputs, in: declaring.folder, memory: known?.known(by: hashes.hash).outputs ?? [],
      hashes: hashes,
      leavesOut: { _ in false })
    while try !look.goOn(until: .max) {}
    let files = look.files
    var bytes: [UInt8] = []
    for place in files.indices {
      files.withPath(place) { bytes.append(contentsOf: $0) }
      bytes += [0, files.kind(place).rawValue]
      let content = files.content(place)
      withUnsafeBytes(of: (content.high, content.low)) { bytes += $0 }
    }
    return hashes.hash.of(bytes)
  }
}
