internal import OpflowBase

// Validation of a plan
// ====================
//
// A plan file is untrusted: an attacker can compute its checksum too. Each process that executes or
// shows a run validates its plan once. The cost is linear: a few passes over the columns and one
// lookup per name.

extension Plan {
  package func validate() throws(PlanError) {
    try validateLists()
    try validatePrograms()
    try validateTasks()
    try validateDeclarations()
    try validateTexts()
    try validateGraph()
    try validateOrder()
    try validateNames()
    try validateMatrixGroups()
  }

  /// Checks only the parts that a worker reads: it need not read a plan of a million tasks.
  package func validate(_ task: TaskID) throws(PlanError) {
    try validateReferences(of: task)
    let policy = policy(task)
    guard isSound(policy) else { throw .reference(.policies) }
    let record = record(task)
    try validateWords(record.shell)
    try validateWords(record.words)
    let environment = environmentEntry(record.environment)
    guard isSound(environment) else { throw .reference(.environments) }
    try validateVariables(environment.base)
    try validateVariables(environment.own)
    for text in TaskText.allCases { try validateWords(record.texts[text]) }
    try validateLateItems(of: task)
    try validateDeclaration(of: task)
    if isService(task) { try validateService(of: task) }
    if kind(task) == .download {
      let download = downloads[Int(record.download)]
      guard isSound(download) else { throw .reference(.downloads) }
      try validateWords(download.sources)
      try validateVariables(download.headers)
    }
  }

  func validateWords(_ index: ListIndex) throws(PlanError) {
    let row = try row(.listOffsets, listOffsets, Int(index), end: listItems.count)
    for item in listItems[row] where !isSound(item) { throw .reference(.listItems) }
  }

  private func validateVariables(_ index: UInt32) throws(PlanError) {
    let row = try row(
      .environmentOffsets, environmentOffsets, Int(index), end: environmentItems.count)
    for item in environmentItems[row] where !(isSound(item.name) && isSound(item.value)) {
      throw .reference(.environmentItems)
    }
  }

  func row(
    _ section: PlanSection, _ offsets: Column<UInt32>, _ index: Int, end: Int
  ) throws(PlanError) -> Range<Int> {
    let (first, last) = (Int(offsets[index]), Int(offsets[index + 1]))
    guard first <= last, last <= end else { throw .reference(section) }
    return first..<last
  }

  // MARK: - Lists and records

  private func validateLists() throws(PlanError) {
    try validateRows(.needOffsets, written.needOffsets, end: written.needTargets.count)
    try validateRows(
      .dependentOffsets, written.dependentOffsets, end: written.dependentTargets.count)
    try validateLists(.listOffsets, listOffsets, end: listItems.count)
    try validateLists(.environmentOffsets, environmentOffsets, end: environmentItems.count)
    try validateLists(.demandOffsets, demandOffsets, end: demandItems.count)
    try validateLists(.codeOffsets, codeOffsets, end: codeItems.count)
    try validateLists(.lateOffsets, lateOffsets, end: lateItems.count)
    try validateLists(.stepOffsets, stepOffsets, end: stepItems.count)
    try validateLists(.declaredOffsets, declaredOffsets, end: declaredItems.count)
    for demand in 0..<demandCount { try validate(demand: UInt32(truncatingIfNeeded: demand)) }
    guard let none = environments.first, none == EnvironmentEntry(base: 0, own: 0) else {
      throw .reference(.environments)
    }
    for environment in environments where !isSound(environment) {
      throw .reference(.environments)
    }
    for policy in policies where !isSound(policy) { throw .reference(.policies) }
    for download in downloads where !isSound(download) { throw .reference(.downloads) }
    for service in services where !isSound(service) { throw .reference(.services) }
    for secret in secretEntries where !isSound(secret) { throw .reference(.secrets) }
  }

  private func validateRows(
    _ section: PlanSection, _ offsets: Column<UInt32>, end: Int
  ) throws(PlanError) {
    guard let last = offsets.last, Int(last) == end, offsets[0] == 0 else {
      throw .reference(section)
    }
    var previous: UInt32 = 0
    for offset in offsets {
      if offset < previous { throw .reference(section) }
      previous = offset
    }
  }

  private func validateLists(
    _ section: PlanSection, _ offsets: Column<UInt32>, end: Int
  ) throws(PlanError) {
    try validateRows(section, offsets, end: end)
    guard offsets.count > 1, offsets[1] == 0 else { throw .reference(section) }
  }

  /// Each resource occurs once, in order: a task must acquire what was checked.
  private func validate(demand: UInt32) throws(PlanError) {
    var next = 0
    for item in demandList(demand) {
      guard Int(item.resource) >= next, Int(item.resource) < resources.count else {
        throw .reference(.demandItems)
      }
      next = Int(item.resource) + 1
    }
  }

  private func isSound(_ environment: EnvironmentEntry) -> Bool {
    isList(environment.base, in: environmentOffsets)
      && isList(environment.own, in: environmentOffsets)
  }

  private func isSound(_ policy: TaskPolicy) -> Bool {
    isList(policy.retryCodes, in: codeOffsets) && policy.retryJitterPermille <= 1000
      && (1...64).contains(policy.stopSignal)
  }

  private func isSound(_ download: DownloadEntry) -> Bool {
    isSound(download.target) && isSound(download.sha256) && isSound(download.sha512)
      && download.sources != 0 && isList(download.sources, in: listOffsets)
      && isList(download.headers, in: environmentOffsets)
      && (download.mode <= 0o7777 || download.mode == .max) && download.resumes <= 1
  }

  private func isSound(_ secret: SecretEntry) -> Bool {
    guard isSound(secret.name), secret.name.length > 0, isSound(secret.text),
      isList(secret.words, in: listOffsets)
    else { return false }
    switch SecretEntry.Source(rawValue: secret.source) {
    case .environment, .file: return secret.text.length > 0
    case .command: return !list(secret.words).isEmpty
    case nil: return false
    }
  }

  // MARK: - Tasks and texts

  private func validateTasks() throws(PlanError) {
    for index in tasks {
      try validateReferences(of: TaskID(index))
      if record[index].late != 0 || flags(TaskID(index)).contains(.lateCondition) {
        try validateLateItems(of: TaskID(index))
      }
    }
  }

  @inline(__always)
  private func validateReferences(of task: TaskID) throws(PlanError) {
    let index = task.index
    if name[index].length == 0 || !isSound(name[index]) { throw .reference(.taskName) }
    guard let kind = ActionKind(rawValue: kindByte[index]) else { throw .reference(.taskKind) }
    guard areSound(flags(task), of: kind) else { throw .reference(.taskFlags) }
    if Int(policyIndex[index]) >= policies.count { throw .reference(.taskPolicy) }
    if Int(demand[index]) >= demandCount { throw .reference(.taskDemand) }
    guard isSound(record[index], of: kind) else { throw .reference(.taskRecord) }
    if isService(task), Int(record[index].service) >= services.count {
      throw .reference(.taskRecord)
    }
    // Approvals do not hold resources.
    if kind == .approve, demand[index] != 0 { throw .reference(.taskDemand) }
  }

  @inline(__always)
  private func areSound(_ flags: TaskFlags, of kind: ActionKind) -> Bool {
    if kind == .approve, !hasApprovals { return false }
    if kind == .block, !hasExternalTasks { return false }
    return flags.isEmpty || areAllSound(flags, of: kind)
  }

  private func areAllSound(_ flags: TaskFlags, of kind: ActionKind) -> Bool {
    if flags.contains(.interactive), !hasInteractive || kind == .download { return false }
    if flags.contains(.control), kind == .download { return false }
    if flags.makesInstances, !hasInstanceMakers || kind != .command || !flags.contains(.control) {
      return false
    }
    if flags.contains(.checked), !hasChecks || kind == .download || flags.contains(.finally) {
      return false
    }
    if flags.contains(.cached), !hasCaches || !flags.contains(.checked) { return false }
    if flags.contains(.service) {
      guard hasServices, kind == .shell || kind == .command,
        flags.isDisjoint(with: TaskFlags.notOfServices)
      else { return false }
    }
    if kind == .approve, !flags.isDisjoint(with: TaskFlags.notOfApprovals) { return false }
    if kind == .block, !flags.isDisjoint(with: TaskFlags.notOfExternalTasks) { return false }
    return TaskFlags.all.isSuperset(of: flags) && (hasManual || !flags.contains(.manual))
  }

  @inline(__always)
  private func isSound(_ record: PlanRecord, of kind: ActionKind) -> Bool {
    isSound(record.script) && isSound(record.directory)
      && isList(record.words, in: listOffsets) && isList(record.shell, in: listOffsets)
      && TaskText.allCases.allSatisfy { isList(record.texts[$0], in: listOffsets) }
      && Int(record.environment) < environments.count
      && isList(record.allowedCodes, in: codeOffsets)
      && isList(record.file, in: listOffsets) && record.line < PlanFormat.lineLimit
      && (kind != .download || Int(record.download) < downloads.count)
      && (record.processes.isEmpty || isSound(record.processes, of: kind))
  }

  private func isSound(_ rules: ProcessRules, of kind: ActionKind) -> Bool {
    rules.isSound(of: kind) && (hasJobservers || rules[.jobserver] == 0)
      && (hasMemoryLimits || rules[.memoryLimit] == 0)
  }

  @inline(__always)
  private func isList(_ index: UInt32, in offsets: Column<UInt32>) -> Bool {
    Int(index) + 1 < offsets.count
  }

  private func validateTexts() throws(PlanError) {
    for item in listItems where !isSound(item) { throw .reference(.listItems) }
    for item in environmentItems where !(isSound(item.name) && isSound(item.value)) {
      throw .reference(.environmentItems)
    }
    for resource in resources where !isSound(resource.name) { throw .reference(.resources) }
    for file in files where !isSound(file) { throw .reference(.files) }
    for name in environmentNames where !isSound(name) { throw .reference(.environmentNames) }
    guard isSound(manifest.name), isSound(manifest.description), isSound(manifest.folder),
      isSound(manifest.group)
    else { throw .reference(.manifest) }
    guard manifest.usesRunID <= 1, manifest.hasWarnings <= 1, manifest.hasManual <= 1,
      manifest.hasInteractive <= 1, manifest.hasApprovals <= 1, manifest.hasChecks <= 1,
      manifest.hasExternalTasks <= 1, manifest.hasCaches <= 1, manifest.hasServices <= 1,
      manifest.hasJobservers <= 1, manifest.hasMemoryLimits <= 1, manifest.hasInstanceMakers <= 1,
      IfRunning(code: manifest.ifRunning) != nil
    else { throw .reference(.manifest) }
  }

  @inline(__always)
  func isSound(_ ref: TextRef) -> Bool {
    Int(ref.offset) + Int(ref.length) <= arena.count
  }

  // MARK: - The graph

  /// Every edge targets a task, and the dependents are the edges reversed as by `Graph.reversed`,
  /// with chains for dependents in later segments.
  private func validateGraph() throws(PlanError) {
    let written = written
    guard written.needTargets.count == written.dependentTargets.count + written.outerEdges.count
    else { throw .reference(.dependentTargets) }
    var cursors = Array(written.dependentOffsets.dropLast())
    var cursor = cursors.mutableSpan
    var links = Array(written.firstOuterEdge)
    for index in tasks {
      for edge in written.needs(TaskID(index)) {
        let target = Int(written.needTargets[edge])
        guard tasks.contains(target),
          let condition = NeedCondition(rawValue: written.needConditions[edge])
        else { throw .reference(.needTargets) }
        try validateNeed(of: TaskID(index), for: TaskID(target), on: condition)
        let place = Int(cursor[target])
        if place < Int(written.dependentOffsets[target + 1]) {
          guard written.dependentTargets[place] == Int32(truncatingIfNeeded: index),
            written.dependentConditions[place] == written.needConditions[edge]
          else { throw .reference(.dependentTargets) }
          cursor[target] += 1
        } else {
          try validateLink(&links, of: TaskID(target), to: index, on: condition)
        }
      }
    }
    for need in outerNeeds { try validate(need) }
  }

  @inline(__always)
  func validateNeed(
    of task: TaskID, for target: TaskID, on condition: NeedCondition
  ) throws(PlanError) {
    if flags(target).isDisjoint(with: [.finally, .service]) { return }
    // A `finally` task starts after all other tasks, so these cannot wait for it.
    if flags(target).contains(.finally), !flags(task).contains(.finally) {
      throw .reference(.needTargets)
    }
    // Dependents cannot wait for the end of a service.
    if isService(target), condition != .success { throw .reference(.needConditions) }
    // The program of an external task may run on another machine and does not get port variables.
    if isService(target), kind(task) == .block { throw .reference(.needTargets) }
  }

  /// The dependency must be the next link of its target's chain.
  private func validateLink(
    _ links: inout [UInt32], of target: TaskID, to dependent: Int, on condition: NeedCondition
  ) throws(PlanError) {
    guard hasRoom else { throw .reference(.dependentTargets) }
    let link = Int(links[target.index])
    guard link > 0, link <= written.outerEdges.count else {
      throw .reference(.firstOuterEdge)
    }
    let edge = written.outerEdges[link - 1]
    guard Int(edge.dependent) == dependent, edge.condition == UInt32(condition.rawValue),
      edge.next == 0 || Int(edge.next) > link
    else { throw .reference(.outerEdges) }
    links[target.index] = edge.next
  }

  private func validate(_ need: OuterNeed) throws(PlanError) {
    guard need.task >= 0, Int(need.task) < taskCount, isSound(need.name), need.name.length > 0,
      NeedCondition(rawValue: UInt8(clamping: need.condition)) != nil
    else { throw .reference(.outerNeeds) }
  }

  /// Each task occurs once, after its dependencies. This excludes cycles.
  private func validateOrder() throws(PlanError) {
    var seen = [Bool](repeating: false, count: taskCount)
    for place in tasks {
      let task = Int(written.order[place])
      guard tasks.contains(task), !seen[task] else { throw .reference(.topologicalOrder) }
      for edge in written.needs(TaskID(task)) where !seen[Int(written.needTargets[edge])] {
        throw .reference(.topologicalOrder)
      }
      seen[task] = true
    }
  }

  // MARK: - Names

  /// The average number of slots per lookup. A half-full table needs less than two; a table with
  /// more was crafted to be slow.
  private static let longestSearch = 64

  private struct NameSearch {
    var task: Int32
    var slot: Int
  }

  /// A lookup of each task's name must find the task. Lookups run in batches so that their cache
  /// misses overlap, without branches on slots, which are unpredictable.
  private func validateNames() throws(PlanError) {
    var used = 0
    var last: Int32 = -1
    for slot in 0..<nameTable.count {
      let task = nameTable[slot]
      used += task >= 0 ? 1 : 0
      last = max(last, task)
    }
    guard hasRoom || (used == taskCount && Int(last) < taskCount) else {
      throw .reference(.nameTable)
    }
    var budget = (taskCount + 64) * Self.longestSearch
    let mask = nameTable.count - 1
    var some = [NameSearch](repeating: NameSearch(task: 0, slot: 0), count: 64)
    var searches = some.mutableSpan
    for first in stride(from: 0, to: taskCount, by: searches.count) {
      var count = min(searches.count, taskCount - first)
      for place in 0..<count {
        let task = TaskID(first + place)
        let slot = Int(truncatingIfNeeded: Hash.xxh3(nameBytes(task))) & mask
        searches[place] = NameSearch(task: task.rawValue, slot: slot)
      }
      while count > 0 {
        var rest = 0
        for place in 0..<count {
          let search = searches[place]
          searches[rest] = search
          rest += nameTable[search.slot] == search.task ? 0 : 1
        }
        count = rest
        budget -= count
        for place in 0..<count {
          guard budget >= 0, passes(searches[place]) else { throw .reference(.nameTable) }
          searches[place].slot = (searches[place].slot + 1) & mask
        }
      }
    }
  }

  /// Probing must continue past this slot; a free slot or an equal name would stop it.
  private func passes(_ search: NameSearch) -> Bool {
    let other = nameTable[search.slot]
    return other >= 0
      && (Int(other) >= taskCount
        || !nameBytes(TaskID(other)).equals(nameBytes(TaskID(search.task))))
  }
}

extension Plan {
  /// `earlier` is validated.
  package func validate(grownFrom earlier: Plan) throws(PlanError) {
    guard earlier.taskCount <= taskCount,
      earlier.written.outerEdges.count <= written.outerEdges.count
    else { throw .section(.taskName) }
    let added = earlier.taskCount..<taskCount
    for index in added {
      let task = TaskID(index)
      try validate(task)
      guard self.task(named: nameBytes(task)) == task else { throw .reference(.nameTable) }
      guard added.contains(Int(written.order[index])) else { throw .reference(.topologicalOrder) }
      try validateNeeds(of: task)
      let edges = try row(
        .dependentOffsets, written.dependentOffsets, index, end: written.dependentTargets.count)
      for edge in edges where !added.contains(Int(written.dependentTargets[edge])) {
        throw .reference(.dependentTargets)
      }
    }
    for place in earlier.written.outerEdges.count..<written.outerEdges.count {
      let edge = written.outerEdges[place]
      // Ensures that a chain ends.
      guard added.contains(Int(edge.dependent)), edge.next == 0 || Int(edge.next) > place + 1
      else { throw .reference(.outerEdges) }
    }
  }

  private func validateNeeds(of task: TaskID) throws(PlanError) {
    let edges = try row(
      .needOffsets, written.needOffsets, task.index, end: written.needTargets.count)
    for edge in edges {
      let target = Int(written.needTargets[edge])
      guard tasks.contains(target), target != task.index,
        let condition = NeedCondition(rawValue: written.needConditions[edge])
      else { throw .reference(.needTargets) }
      try validateNeed(of: task, for: TaskID(target), on: condition)
    }
  }
}
