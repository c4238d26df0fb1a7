internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem

/// The environment of tasks for execve(2), reused while successive tasks share one.
struct TaskEnvironment: ~Copyable {
  private let inherited: [[UInt8]]
  /// By the hash of their names.
  private let inheritedPlaces: [UInt64: [Int]]
  private let run: String
  private let runFolder: String?
  /// This run and the runs around it.
  private let runs: String
  private let folder: String
  private let trace: TraceParent?
  /// `TRACEPARENT=` up to the span ID.
  private let tracePrefix: [UInt8]
  private let traceSuffix: [UInt8]
  /// The task does not set TRACEPARENT itself.
  private var givesTrace = false
  private let block = StringBlock()
  /// The plan's lists that `block` contains.
  private var lists: (variables: UInt32, secrets: ListIndex)?
  private var pathIndex: Int?
  /// Strings at the end of the block that belong to one task.
  private var ownCount = 0
  /// Functions that bash exported (BASH_FUNC_NAME%%) may replace any command.
  let hasShellFunctions: Bool
  private let defaultPath = StringBlock(["/bin:/usr/bin"])

  /// That a task with a jobserver would have without it.
  private var makeFlags: [UInt8] = []

  private static let makeVariable = "MAKEFLAGS", cargoVariable = "CARGO_MAKEFLAGS"
  private static let jobVariables = [makeVariable, cargoVariable, "MFLAGS"]

  private static let own = [
    RunsAround.ownVariable, RunsAround.folderVariable, RunsAround.variable, TaskAround.variable,
    "OPFLOW_ATTEMPT",
    "OPFLOW_RUN_STATE", "OPFLOW_VALUES",
    "OPFLOW_NEEDS", "OPFLOW_TMP", "PWD",
  ]
  private let ports: [String]

  /// `sharesDevices`: opflow assigns GPUs: a task without any must not see any.
  init(
    inherited: [[UInt8]], run: String, runFolder: String?, folder: String, ports: [String] = [],
    sharesDevices: Bool = false
  ) {
    self.ports = ports
    trace = Self.value(TraceParent.variable, in: inherited).flatMap { TraceParent($0) }
    let text = Array((trace?.text ?? "").utf8)
    tracePrefix = Array("\(TraceParent.variable)=".utf8) + text.prefix(TraceParent.spanStart)
    traceSuffix = Array(text.dropFirst(TraceParent.spanStart + 16))
    let own = Self.own + ports + [TraceParent.variable]
    // An empty state stands for a missing one (`WorkerProgram`).
    let noState = Array("\(TraceParent.stateVariable)=".utf8)
    var kept: [[UInt8]] = []
    kept.reserveCapacity(inherited.count + 1)
    for entry in inherited {
      if own.contains(where: { Self.isOf($0, entry) }) || entry == noState { continue }
      if sharesDevices, Self.isOf(GraphicsProcessors.variable, entry) { continue }
      kept.append(Self.withoutJobs(entry))
    }
    if sharesDevices { kept.append(Array("\(GraphicsProcessors.variable)=".utf8)) }
    self.inherited = kept
    inheritedPlaces = Dictionary(
      grouping: kept.indices, by: { Hash.xxh3(Array(Self.name(of: kept[$0]))) })
    self.run = run
    self.runFolder = runFolder
    let around = RunsAround(
      Self.value(RunsAround.variable, in: inherited),
      own: Self.value(RunsAround.ownVariable, in: inherited))
    runs = around.text(with: run)
    self.folder = folder
    hasShellFunctions = inherited.contains { $0.starts(with: "BASH_FUNC_".utf8) }
  }

  /// Tasks do not belong to an outer make.
  private static func withoutJobs(_ entry: [UInt8]) -> [UInt8] {
    for name in jobVariables where isOf(name, entry) {
      let flags = Array(entry.dropFirst(name.utf8.count + 1))
      if MakeFlags.server(in: flags) == nil { return entry }
      return Array("\(name)=".utf8) + MakeFlags.withoutJobs(flags)
    }
    return entry
  }

  /// Remembers `MAKEFLAGS`, which the jobserver's setting extends. Returns whether the jobserver
  /// replaces the variable.
  private mutating func takeMakeFlags(
    _ name: some Sequence<UInt8>, _ entry: [UInt8] = [], text: [UInt8]? = nil
  ) -> Bool {
    if name.elementsEqual(Self.makeVariable.utf8) {
      makeFlags = text ?? Array(entry.dropFirst(Self.makeVariable.utf8.count + 1))
      return true
    }
    return name.elementsEqual(Self.cargoVariable.utf8)
  }

  mutating func set(devices: String) {
    block.append(devices)
    ownCount += 1
  }

  /// Must be called last.
  mutating func set(_ jobserver: JobserverOffer, isInherited: Bool) {
    let path = "fifo:\(jobserver.path)"
    let (read, write) = JobserverOffer.inherited
    let flags = MakeFlags.with(
      jobs: jobserver.jobs, address: isInherited ? "\(read),\(write)" : path, in: makeFlags)
    block.append(Array("\(Self.makeVariable)=".utf8) + flags)
    let ofCargo = MakeFlags.with(jobs: jobserver.jobs, address: path, in: [])
    block.append(Array("\(Self.cargoVariable)=".utf8) + ofCargo)
    ownCount += 2
  }

  private static func name(of entry: [UInt8]) -> ArraySlice<UInt8> {
    entry.prefix { $0 != UInt8(ascii: "=") }
  }

  private static func value(_ name: String, in entries: [[UInt8]]) -> String? {
    let entry = entries.first { isOf(name, $0) }
    return entry.map { String(decoding: $0.dropFirst(name.utf8.count + 1), as: UTF8.self) }
  }

  /// The `=` is tested first, as it rules out most.
  private static func isOf(_ name: String, _ entry: [UInt8]) -> Bool {
    let count = name.utf8.count
    return entry.count > count && entry[count] == UInt8(ascii: "=") && entry.starts(with: name.utf8)
  }

  var hasPath: Bool { pathIndex != nil }

  var byteCount: Int { block.byteCount }

  /// With its name and zero.
  var longest: (name: String, byteCount: Int) {
    guard let index = block.longest else { return ("", 0) }
    // SAFETY: nothing is added meanwhile.
    let entry = String(cString: block[index])
    return (String(entry.prefix { $0 != "=" }), block.byteCount(index))
  }

  var pointers: UnsafePointer<UnsafeMutablePointer<CChar>?> { block.pointers }

  /// The task's PATH, or the default of execvp(3).
  var searchPath: UnsafePointer<CChar> {
    guard let pathIndex else { return UnsafePointer(defaultPath[0]) }
    return UnsafePointer(block[pathIndex] + 5)
  }

  /// `late` replaces values by index. Returns the name of a secret that is not in `secrets`.
  mutating func set(
    _ plan: Plan, _ index: UInt32, _ secretList: ListIndex, _ secrets: [SecretValue],
    _ late: [Int: [UInt8]], hasJobserver: Bool = false, hasDevices: Bool = false
  ) -> String? {
    block.removeLast(ownCount)
    ownCount = 0
    let isOwn = hasJobserver || hasDevices || !late.isEmpty
    if let lists, lists == (index, secretList), !isOwn { return nil }
    lists = nil
    makeFlags = []
    block.removeAll()
    pathIndex = nil
    let items = plan.environmentList(index)
    let names = plan.list(secretList)
    // A value in the manifest takes precedence.
    let variable = TraceParent.variable.utf8
    givesTrace =
      trace != nil && !items.contains { plan.text($0.name).elementsEqual(variable) }
      && !names.contains { plan.text($0).elementsEqual(variable) }
    let secretNames = Set(names.map { Array(plan.text($0)) })
    func isSecret(_ name: some Sequence<UInt8>) -> Bool {
      !secretNames.isEmpty && secretNames.contains(Array(name))
    }
    let known =
      names.isEmpty
      ? [:] : Dictionary(secrets.map { (Array($0.name.utf8), $0) }) { first, _ in first }
    for name in names {
      guard let secret = known[Array(plan.text(name))] else { return plan.string(name) }
      if secret.name == "PATH" { pathIndex = block.count }
      block.append(Array(secret.name.utf8) + [UInt8(ascii: "=")] + secret.bytes)
    }
    var isSet = [Bool](repeating: false, count: inherited.count)
    for item in items {
      let name = plan.text(item.name)
      for place in inheritedPlaces[Hash.xxh3(name)] ?? []
      where name.elementsEqual(Self.name(of: inherited[place])) {
        isSet[place] = true
      }
    }
    for (place, entry) in inherited.enumerated() where !isSet[place] {
      let name = Self.name(of: entry)
      if isSecret(name) { continue }
      if hasJobserver, takeMakeFlags(name, entry) { continue }
      if hasDevices, name.elementsEqual(GraphicsProcessors.variable.utf8) { continue }
      if name.elementsEqual("PATH".utf8) { pathIndex = block.count }
      block.append(entry)
    }
    for item in items {
      let name = plan.text(item.name)
      if Self.own.contains(where: { name.elementsEqual($0.utf8) }) { continue }
      if ports.contains(where: { name.elementsEqual($0.utf8) }) { continue }
      if isSecret(name) { continue }
      if hasDevices, name.elementsEqual(GraphicsProcessors.variable.utf8) { continue }
      let text = late.isEmpty ? nil : item.place.flatMap { late[$0] }
      if hasJobserver, takeMakeFlags(name, text: text ?? Array(plan.text(item.value))) { continue }
      if name.elementsEqual("PATH".utf8) { pathIndex = block.count }
      block.begin()
      block.add(name)
      block.add("=")
      if let text {
        text.withUnsafeBytes { block.add($0) }
      } else {
        block.add(plan.text(item.value))
      }
      block.end()
    }
    block.append("\(RunsAround.ownVariable)=\(run)")
    if let runFolder { block.append("\(RunsAround.folderVariable)=\(runFolder)") }
    block.append("\(RunsAround.variable)=\(runs)")
    block.append("OPFLOW_TMP=\(folder)")
    // Another task with the same lists may have other values.
    if !isOwn { lists = (index, secretList) }
    return nil
  }

  mutating func set(
    task: UnsafeRawBufferPointer, attempt: Int32, directory: UnsafeRawBufferPointer,
    conclusion: RunState?, valuesPath: String, needsPath: String?, ports: [String] = []
  ) {
    block.begin()
    block.add("OPFLOW_TASK=")
    block.add(task)
    block.end()
    block.begin()
    block.add("OPFLOW_ATTEMPT=")
    block.add(number: attempt)
    block.end()
    block.begin()
    block.add("PWD=")
    block.add(directory)
    block.end()
    block.begin()
    block.add("OPFLOW_VALUES=")
    var path = valuesPath
    path.withUTF8 { block.add(UnsafeRawBufferPointer($0)) }
    block.end()
    ownCount = 4
    if givesTrace, let trace {
      block.begin()
      tracePrefix.withUnsafeBytes { block.add($0) }
      block.add(hexadecimal: trace.span.attempt(attempt, ofTask: task).value)
      traceSuffix.withUnsafeBytes { block.add($0) }
      block.end()
      ownCount += 1
    }
    if let needsPath {
      block.append("OPFLOW_NEEDS=\(needsPath)")
      ownCount += 1
    }
    for port in ports { block.append(port) }
    ownCount += ports.count
    guard let conclusion else { return }
    block.append("OPFLOW_RUN_STATE=\(conclusion.rawValue)")
    ownCount += 1
  }
}
