internal import OpflowBase

extension Plan {
  package var tasks: Range<Int> { 0..<taskCount }

  @inline(__always)
  package func kind(_ task: TaskID) -> ActionKind {
    checked(ActionKind(rawValue: kindByte[task.index]))
  }
  @inline(__always)
  package func flags(_ task: TaskID) -> TaskFlags { TaskFlags(rawValue: flagBits[task.index]) }

  /// Validation has checked the value; without it, a wrong task could run.
  @inline(__always)
  func checked<Value>(_ value: Value?) -> Value {
    guard let value else { preconditionFailure("plan: a value that has no meaning") }
    return value
  }

  package var hasFurtherFiles: Bool { files.count > 1 }

  /// The real path (`-` for standard input) and first line of the task's definition; nil if
  /// unknown.
  package func place(of task: TaskID) -> (path: String, line: Int)? {
    let record = record[task.index]
    guard record.line > 0, let path = list(record.file).first ?? files.first else { return nil }
    return (string(path), Int(record.line))
  }

  package var hasManual: Bool { manifest.hasManual == 1 }

  /// nil unless each node has GPUs and a task wants them.
  package var gpuResource: Int? {
    resources.indices.dropFirst(Int(ResourceEntry.download) + 1).first {
      resources[$0].capacity == 0
    }
  }

  package func gpuCount(of task: TaskID) -> Int {
    guard let gpu = gpuResource else { return 0 }
    return demandList(demand[task.index]).first { Int($0.resource) == gpu }
      .map { Int(clamping: $0.amount / 1000) } ?? 0
  }

  package var hasInteractive: Bool { manifest.hasInteractive == 1 }

  package var hasMemoryLimits: Bool { manifest.hasMemoryLimits == 1 }

  package var hasApprovals: Bool { manifest.hasApprovals == 1 }

  package var hasExternalTasks: Bool { manifest.hasExternalTasks == 1 }

  package var approvalCount: Int { hasApprovals ? tasks.count { kind(TaskID($0)) == .approve } : 0 }

  package func question(_ task: TaskID) -> UnsafeRawBufferPointer {
    text(record[task.index].script)
  }

  package var hasDownloads: Bool { !downloads.isEmpty }

  package var downloadTasks: [TaskID] {
    guard hasDownloads else { return [] }
    return tasks.lazy.map { TaskID($0) }.filter { kind($0) == .download }
  }

  package func record(_ task: TaskID) -> PlanRecord { record[task.index] }
  package func script(_ task: TaskID) -> UnsafeRawBufferPointer { text(record[task.index].script) }
  package func words(_ task: TaskID) -> Column<TextRef> { list(record[task.index].words) }

  package func policy(_ task: TaskID) -> TaskPolicy { policies[Int(policyIndex[task.index])] }

  /// Lists cover exit codes only. `allow_failure` never covers an output that cannot be written.
  package func allowsFailure(_ task: TaskID, _ status: ExitStatus, _ reason: EndReason?) -> Bool {
    if reason == .output { return false }
    if flags(task).contains(.allowAnyFailure) { return true }
    guard reason == nil, let code = exitCode(task, status) else { return false }
    return codeList(record[task.index].allowedCodes).contains(code)
  }

  /// The files are checked after this end: a later session may keep it as a result.
  package func recordsEnd(_ task: TaskID, _ end: Outcome) -> Bool {
    if end.isSuccess { return isChecked(task) || declaresOutputs(task) }
    guard end.reason == nil || end.reason == .timeout, isChecked(task) else { return false }
    return allowsFailure(task, end.status, end.reason)
  }

  /// A plain command killed by a signal has 128 plus the signal, as with a shell (POSIX.1-2017, XCU
  /// 2.8.2).
  package func exitCode(_ task: TaskID, _ status: ExitStatus) -> Int32? {
    switch status {
    case .unknown: nil
    case .exit(let code): code
    case .signal(let signal): isPlainCommand(task) ? 128 + signal : nil
    }
  }

  /// The command of a task that only groups its dependencies.
  package static let commandOfNames = ["true"]

  func isName(_ task: TaskID) -> Bool {
    kind(task) == .command && list(record(task).words).map { string($0) } == Self.commandOfNames
  }

  /// The script is for the default shell, but simple enough to run without one.
  private func isPlainCommand(_ task: TaskID) -> Bool {
    kind(task) == .shell && isDefaultShell(record[task.index].shell)
      && SimpleCommand.words(of: script(task)) != nil
  }

  /// `/bin/sh -ec`.
  package func isDefaultShell(_ index: ListIndex) -> Bool {
    let words = list(index)
    return words.count == 2 && text(words[0]).elementsEqual("/bin/sh".utf8)
      && text(words[1]).elementsEqual("-ec".utf8)
  }

  @inline(__always)
  package func fingerprint(_ task: TaskID) -> Fingerprint { fingerprint[task.index] }

  @inline(__always)
  package func needs(_ task: TaskID) -> Range<Int> { edges.needs(task) }
  @inline(__always)
  package var needTargets: Column<Int32> { edges.needTargets }
  @inline(__always)
  package var needConditions: Column<UInt8> { edges.needConditions }
  @inline(__always)
  package var topologicalOrder: Column<Int32> { edges.order }
  package func needCondition(_ edge: Int) -> NeedCondition {
    checked(NeedCondition(rawValue: needConditions[edge]))
  }

  package func list(_ index: ListIndex) -> Column<TextRef> {
    listItems[Int(listOffsets[Int(index)])..<Int(listOffsets[Int(index) + 1])]
  }
  package func variables(_ list: UInt32) -> Column<EnvironmentItem> {
    environmentItems[Int(environmentOffsets[Int(list)])..<Int(environmentOffsets[Int(list) + 1])]
  }

  package func environmentEntry(_ index: UInt32) -> EnvironmentEntry { environments[Int(index)] }

  /// The base's variables come first. Equal names have equal references, so bytes are not compared.
  package func environmentList(_ index: UInt32) -> [TaskVariable] {
    let entry = environmentEntry(index)
    let (base, own) = (variables(entry.base), variables(entry.own))
    var places: [TextRef: Int] = [:]
    if own.count > 8 { for (place, item) in own.enumerated() { places[item.name] = place } }
    func place(of name: TextRef) -> Int? {
      places.isEmpty ? own.firstIndex { $0.name == name } : places[name]
    }
    var result: [TaskVariable] = []
    result.reserveCapacity(base.count + own.count)
    var isSet = [Bool](repeating: false, count: own.count)
    for item in base {
      let place = place(of: item.name)
      if let place { isSet[place] = true }
      let value = place.map { own[$0].value } ?? item.value
      result.append(TaskVariable(name: item.name, value: value, place: place))
    }
    for (place, item) in own.enumerated() where !isSet[place] {
      result.append(TaskVariable(name: item.name, value: item.value, place: place))
    }
    return result
  }
  package var demandCount: Int { demandOffsets.count - 1 }
  package func demandList(_ index: UInt32) -> Column<DemandItem> {
    demandItems[Int(demandOffsets[Int(index)])..<Int(demandOffsets[Int(index) + 1])]
  }
  package func codeList(_ index: UInt32) -> Column<Int32> {
    codeItems[Int(codeOffsets[Int(index)])..<Int(codeOffsets[Int(index) + 1])]
  }

  @inline(__always)
  package func text(_ ref: TextRef) -> UnsafeRawBufferPointer {
    arena.raw(offset: Int(ref.offset), length: Int(ref.length))
  }
  package var allTexts: UnsafeRawBufferPointer { arena.raw(offset: 0, length: arena.count) }
  package func string(_ ref: TextRef) -> String { String(decoding: text(ref), as: UTF8.self) }

  @inline(__always)
  package func nameBytes(_ task: TaskID) -> UnsafeRawBufferPointer { text(name[task.index]) }
  package func nameString(_ task: TaskID) -> String { string(name[task.index]) }

  package func task(named bytes: UnsafeRawBufferPointer) -> TaskID? {
    Self.task(named: bytes, in: nameTable, taskCount: taskCount) { nameBytes(TaskID($0)) }
  }

  static func task(
    named bytes: UnsafeRawBufferPointer, in nameTable: Column<Int32>, taskCount: Int,
    name: (Int32) -> UnsafeRawBufferPointer
  ) -> TaskID? {
    let mask = nameTable.count - 1
    var slot = Int(truncatingIfNeeded: Hash.xxh3(bytes)) & mask
    // Terminates even for a table without a free slot.
    for _ in 0...mask {
      let task = nameTable[slot]
      if task < 0 { return nil }
      // The slot may belong to an uncommitted task.
      if Int(task) < taskCount, name(task).equals(bytes) { return TaskID(task) }
      slot = (slot + 1) & mask
    }
    return nil
  }

  package func task(named name: String) -> TaskID? {
    var name = name
    return name.withUTF8 { task(named: UnsafeRawBufferPointer($0)) }
  }
}
