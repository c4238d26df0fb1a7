extension Plan {
  package var tasks: Range<Int> { 0..<taskCount }

  @inline(__always)
  package func kind(_ task: TaskID) -> ActionKind {
    checked(ActionKind(rawValue: kindByte[task.index]))
  }
  @inline(__always)
  package func flags(_ task: TaskID) -> TaskFlags { TaskFlags(rawValue: flagBits[task.index]) }

  /// What validation has found to be there. As with an index out of bounds, going on with anything else
  /// would be a task that nobody wrote.
  @inline(__always)
  func checked<Value>(_ value: Value?) -> Value {
    guard let value else { preconditionFailure("plan: a value that has no meaning") }
    return value
  }

  /// Whether the manifest names files that it was compiled from besides itself.
  package var hasFurtherFiles: Bool { files.count > 1 }

  /// The real path of the file that a task stands in, `-` for standard input, and the line that it begins in;
  /// nil where that is not known.
  package func place(of task: TaskID) -> (path: String, line: Int)? {
    let record = record[task.index]
    guard record.line > 0, let path = list(record.file).first ?? files.first else { return nil }
    return (string(path), Int(record.line))
  }

  /// Whether any task is `manual`, so that a run of all tasks has to leave some out.
  package var hasManual: Bool { manifest.hasManual == 1 }

  /// The number of `gpu`, where that is of each machine and tasks want any.
  package var gpuResource: Int? {
    resources.indices.dropFirst(Int(ResourceEntry.download) + 1).first {
      resources[$0].capacity == 0
    }
  }

  /// How many GPUs of its own a task wants.
  package func gpuCount(of task: TaskID) -> Int {
    guard let gpu = gpuResource else { return 0 }
    return demandList(demand[task.index]).first { Int($0.resource) == gpu }
      .map { Int(clamping: $0.amount / 1000) } ?? 0
  }

  /// Whether any task is `interactive`, so that a run may have to lend its terminal.
  package var hasInteractive: Bool { manifest.hasInteractive == 1 }

  /// Whether memory of any task is limited.
  package var hasMemoryLimits: Bool { manifest.hasMemoryLimits == 1 }

  /// Whether any task is a gate.
  package var hasGates: Bool { manifest.hasGates == 1 }

  /// Whether any task is a block.
  package var hasBlocks: Bool { manifest.hasBlocks == 1 }

  /// How many tasks are gates.
  var gateCount: Int { hasGates ? tasks.count { kind(TaskID($0)) == .approve } : 0 }

  /// What a gate asks.
  package func question(_ task: TaskID) -> UnsafeRawBufferPointer {
    text(record[task.index].script)
  }

  package var hasDownloads: Bool { !downloads.isEmpty }

  /// The tasks that are downloads, in their order; most plans have none, and are not searched.
  package var downloadTasks: [TaskID] {
    guard hasDownloads else { return [] }
    return tasks.lazy.map { TaskID($0) }.filter { kind($0) == .download }
  }

  /// What the task is not scheduled by.
  package func record(_ task: TaskID) -> PlanRecord { record[task.index] }
  /// The script of a `shell` action.
  package func script(_ task: TaskID) -> UnsafeRawBufferPointer { text(record[task.index].script) }
  /// The words of a `command` action.
  package func words(_ task: TaskID) -> Column<TextRef> { list(record[task.index].words) }

  package func policy(_ task: TaskID) -> TaskPolicy { policies[Int(policyIndex[task.index])] }

  /// Whether `allow_failure` covers that end: a list of codes covers ends by exit code only. What cannot be
  /// written down is nobody's to allow.
  package func allowsFailure(_ task: TaskID, _ status: ExitStatus, _ reason: EndReason?) -> Bool {
    if reason == .output { return false }
    if flags(task).contains(.allowAnyFailure) { return true }
    guard reason == nil, let code = exitCode(task, status) else { return false }
    return codeList(record[task.index].allowedCodes).contains(code)
  }

  /// Whether the files of a task are looked at when it has ended so: a success and a failure that is allowed are
  /// results, by which a later drive knows whether the task is to run.
  package func recordsEnd(_ task: TaskID, _ end: Outcome) -> Bool {
    if end.isSuccess { return isChecked(task) || declaresOutputs(task) }
    guard end.reason == nil || end.reason == .timeout, isChecked(task) else { return false }
    return allowsFailure(task, end.status, end.reason)
  }

  /// The exit code that lists of codes speak of; nil when there is none. A plain command that a
  /// signal ended has the code that a shell gives such a command (POSIX.1-2017, XCU 2.8.2: above
  /// 128), so that a list does not tell whether it was executed directly.
  package func exitCode(_ task: TaskID, _ status: ExitStatus) -> Int32? {
    switch status {
    case .unknown: nil
    case .exit(let code): code
    case .signal(let signal): isPlainCommand(task) ? 128 + signal : nil
    }
  }

  /// What a task runs that is but a name for those that it needs: it ends well at once.
  package static let commandOfNames = ["true"]

  /// Whether a task is one.
  func isName(_ task: TaskID) -> Bool {
    kind(task) == .command && list(record(task).words).map { string($0) } == Self.commandOfNames
  }

  /// Whether the action is a script for the default shell that no shell is needed for.
  private func isPlainCommand(_ task: TaskID) -> Bool {
    kind(task) == .shell && isDefaultShell(record[task.index].shell)
      && SimpleCommand.words(of: script(task)) != nil
  }

  /// Whether those words are the shell that scripts go to where the manifest names none.
  package func isDefaultShell(_ index: ListIndex) -> Bool {
    let words = list(index)
    return words.count == 2 && text(words[0]).elementsEqual("/bin/sh".utf8)
      && text(words[1]).elementsEqual("-ec".utf8)
  }

  @inline(__always)
  package func fingerprint(_ task: TaskID) -> Fingerprint { fingerprint[task.index] }

  @inline(__always)
  package func needs(_ task: TaskID) -> Range<Int> { edges.needs(task) }
  /// What is needed, by the numbers of needs.
  @inline(__always)
  package var needTargets: Column<Int32> { edges.needTargets }
  @inline(__always)
  package var needConditions: Column<UInt8> { edges.needConditions }
  /// Every task after all that it needs.
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

  /// The two lists of an environment.
  package func environmentEntry(_ index: UInt32) -> EnvironmentEntry { environments[Int(index)] }

  /// The variables of an environment, those of its base first. Both lists have a name as the same text, so that what
  /// is set twice is found without a look at the bytes.
  package func environmentList(_ index: UInt32) -> [TaskVariable] {
    let entry = environmentEntry(index)
    let (base, own) = (variables(entry.base), variables(entry.own))
    var places: [TextRef: Int] = [:]
    // So few are compared one by one.
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
  /// All texts, one behind the other.
  package var allTexts: UnsafeRawBufferPointer { arena.raw(offset: 0, length: arena.count) }
  package func string(_ ref: TextRef) -> String { String(decoding: text(ref), as: UTF8.self) }

  /// A task's id as a person wrote it.
  @inline(__always)
  package func nameBytes(_ task: TaskID) -> UnsafeRawBufferPointer { text(name[task.index]) }
  package func nameString(_ task: TaskID) -> String { string(name[task.index]) }

  /// The task of that name.
  package func task(named bytes: UnsafeRawBufferPointer) -> TaskID? {
    Self.task(named: bytes, in: nameTable, taskCount: taskCount) { nameBytes(TaskID($0)) }
  }

  /// The same by the columns of a plan, with what gives a task's name.
  static func task(
    named bytes: UnsafeRawBufferPointer, in nameTable: Column<Int32>, taskCount: Int,
    name: (Int32) -> UnsafeRawBufferPointer
  ) -> TaskID? {
    let mask = nameTable.count - 1
    var slot = Int(truncatingIfNeeded: Hash.xxh3(bytes)) & mask
    // Bounded, so that a table without a free slot cannot hold a reader for ever.
    for _ in 0...mask {
      let task = nameTable[slot]
      if task < 0 { return nil }
      // One that does not count may stand there.
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
