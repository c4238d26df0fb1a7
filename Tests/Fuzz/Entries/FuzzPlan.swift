import OpflowBase
import OpflowPlan
import OpflowWire

/// Checks compiled plans: any bytes with a valid header, since a checksum is not a defence.
enum FuzzPlan {
  static func check(_ bytes: UnsafeRawBufferPointer) throws(FuzzFinding) {
    _ = try? Plan(copying: Array(bytes))
    guard let plan = try? Plan(copying: withSoundHeader(bytes)) else { return }
    try runEach(plan)
    guard (try? plan.validate()) != nil else { return }
    try readAll(plan)
    try FuzzLate.readAll(plan)
    guard plan.taskCount <= 400 else { return }
    var run = PlanRun(plan)
    try run.toTheEnd()
  }

  /// Reads tasks like a worker, which checks only the tasks that it gets.
  private static func runEach(_ plan: Plan) throws(FuzzFinding) {
    var size = 0
    for index in plan.tasks.prefix(400) {
      let task = TaskID(index)
      guard WorkerMessage.run(task, attempt: 1).fault(in: plan) == nil else { continue }
      size += plan.nameBytes(task).count + plan.text(plan.record(task).directory).count
      size += texts(plan, plan.record(task).shell)
      for item in plan.environmentList(plan.record(task).environment) {
        size += plan.text(item.name).count + plan.text(item.value).count
      }
      size += Int(plan.policy(task).stopSignal)
      switch plan.kind(task) {
      case .shell: size += plan.script(task).count
      case .approve: size += plan.question(task).count
      case .block: break
      case .command: for word in plan.words(task) { size += plan.text(word).count }
      case .download: size += plan.download(task).sources.count
      }
      size += try declared(plan, task)
      try expect(size > 0, "a task without a name")
    }
  }

  static func withSoundHeader(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var plan = Array(bytes)
    guard plan.count >= 64 else { return plan }
    plan.replaceSubrange(0..<8, with: PlanFormat.magic)
    plan.withUnsafeMutableBytes { plan in
      plan.storeBytes(of: PlanFormat.version.littleEndian, toByteOffset: 8, as: UInt32.self)
      plan.storeBytes(
        of: UInt32(PlanSection.allCases.count).littleEndian, toByteOffset: 12, as: UInt32.self)
      plan.storeBytes(of: UInt64(plan.count).littleEndian, toByteOffset: 16, as: UInt64.self)
      let checksum = Hash.xxh3(UnsafeRawBufferPointer(rebasing: plan[64...]))
      plan.storeBytes(of: checksum.littleEndian, toByteOffset: 24, as: UInt64.self)
    }
    return plan
  }

  /// Reads the whole plan; an index out of bounds traps.
  static func readAll(_ plan: Plan) throws(FuzzFinding) {
    var size = 0
    for index in plan.tasks {
      let task = TaskID(index)
      size += plan.nameString(task).utf8.count
      size += plan.text(plan.record(task).directory).count
      size += texts(plan, plan.record(task).shell)
      for text in TaskText.allCases { size += texts(plan, plan.record(task).texts[text]) }
      for item in plan.environmentList(plan.record(task).environment) {
        size += plan.text(item.name).count + plan.text(item.value).count
      }
      for item in plan.demandList(plan.demand[index]) {
        size += plan.text(plan.resources[Int(item.resource)].name).count
      }
      size += plan.codeList(plan.policy(task).retryCodes).count
      size += plan.allowsFailure(task, .exit(1), .none) ? 1 : 0
      size += Int(truncatingIfNeeded: plan.fingerprint(task).whole & 1)
      switch plan.kind(task) {
      case .shell: size += plan.script(task).count
      case .approve: size += plan.question(task).count
      case .block: break
      case .command: for word in plan.words(task) { size += plan.text(word).count }
      case .download:
        size += plan.download(task).sources.count + plan.downloadTarget(task).count
      }
      size += try declared(plan, task)
      try expect(
        plan.hasChecks || !plan.isChecked(task), "a task is checked in a plan without checks")
      try expect(plan.task(named: plan.nameBytes(task)) == task, "a name finds another task")
      for edge in plan.needs(task) {
        let need = TaskID(plan.needTargets[edge])
        try expect(
          plan.dependents(need).contains { plan.dependent($0) == task },
          "a need does not know its dependent")
      }
    }
    for file in plan.files { size += plan.text(file).count }
    size += plan.text(plan.manifest.name).count + plan.text(plan.manifest.folder).count
    try expect(size >= plan.taskCount, "a task without a name")
  }

  private static func declared(_ plan: Plan, _ task: TaskID) throws(FuzzFinding) -> Int {
    for case .command(let words) in plan.inputs(of: task) {
      try expect(!words.isEmpty, "a command without a word")
    }
    return Array(plan.inputs(of: task)).count + Array(plan.outputs(of: task)).count
      + Int(truncatingIfNeeded: plan.declarationDigest(task) & 1)
  }

  private static func texts(_ plan: Plan, _ list: ListIndex) -> Int {
    plan.list(list).reduce(0) { $0 + plan.text($1).count }
  }
}
