internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem

struct WorkerRefusal: Error {
  let errorNumber: Int32
  let detail: String
  var isOfValues = false
  /// A retry may succeed soon.
  var isShortage = false

  var event: WorkerEvent {
    if isOfValues { return .valueMissing(detail: detail) }
    return isShortage
      ? .lacking(detail: detail) : .refused(errorNumber: errorNumber, detail: detail)
  }
}

struct TaskStreams {
  fileprivate let input: Int32
  fileprivate let output: Int32
  fileprivate let leadsGroup: Bool
  /// nil for the worker's own group.
  var group: Int32?
  fileprivate var jobs: (Int32, Int32)?

  static func logged(output: Int32) -> TaskStreams {
    TaskStreams(input: StandardStream.input.rawValue, output: output, leadsGroup: true)
  }

  /// An `interactive` task runs in the process group of worker and coordinator, like a command of a
  /// shell script (`TerminalLoan`).
  static func terminal(_ rawDescriptor: Int32) -> TaskStreams {
    TaskStreams(input: rawDescriptor, output: rawDescriptor, leadsGroup: false)
  }
}

/// Starts tasks; reuses the environment and buffers. Standard input is /dev/null. A task leads a
/// process group but stays in the worker's session, by which a resume finds it if worker and
/// coordinator were killed together. A session per task would cost more than all other work.
final class WorkerLauncher {
  private let plans: WorkerPlan
  private var plan: Plan { plans.current }
  private var environment: TaskEnvironment
  private let words = StringBlock()
  private let folder = StringBlock()
  /// Successive tasks usually share a shell.
  private var knownShell: (list: ListIndex, isDefault: Bool)?

  private let arguments: TaskArguments?
  private let run: String
  private var taskFolder: String
  private var hasScriptFile = false
  private var seen: Plan

  /// `arguments` are extra arguments for the command of one task; `taskFolder` is `OPFLOW_TMP`.
  init(_ plans: WorkerPlan, run: String, arguments: TaskArguments?, taskFolder: String) {
    self.plans = plans
    self.arguments = arguments
    self.run = run
    self.taskFolder = taskFolder
    seen = plans.current
    environment = Self.environment(plans, run: run, taskFolder: taskFolder)
  }

  private static func environment(
    _ plans: WorkerPlan, run: String, taskFolder: String
  ) -> TaskEnvironment {
    let plan = plans.current
    return TaskEnvironment(
      inherited: Environment.entries(), run: run, runFolder: plans.runFolder, folder: taskFolder,
      ports: plan.portVariables, sharesDevices: plan.gpuResource != nil)
  }

  func use(taskFolder: String) {
    if taskFolder == self.taskFolder { return }
    self.taskFolder = taskFolder
    environment = Self.environment(plans, run: run, taskFolder: taskFolder)
  }

  /// Drops inherited variables named like the ports of added services.
  private func heedGrowth() {
    if seen === plan { return }
    let knew = seen.portVariables.count
    seen = plan
    if plan.portVariables.count == knew { return }
    environment = Self.environment(plans, run: run, taskFolder: taskFolder)
  }

  /// `secrets` are the run's; the task gets those that it declares. `needsPath` is the folder with
  /// its dependencies' values, `late` are the values that it reads, `ports` are variables
  /// `NAME=NUMBER`.
  func start(
    _ task: TaskID, attempt: Int32, conclusion: RunState?, secrets: [SecretValue],
    valuesPath: String, needsPath: String?, late: LateValues?, ports: [String],
    devices: String?, jobserver: JobserverOffer?, streams: TaskStreams
  ) throws(WorkerRefusal) -> SpawnedProcess {
    heedGrowth()
    let directory = plan.text(plan.record(task).directory)
    folder.removeAll()
    folder.append(directory)
    let record = plan.record(task)
    if let missing = environment.set(
      plan, record.environment, record.texts[.secrets], secrets, late?.environment ?? [:],
      hasJobserver: jobserver != nil, hasDevices: devices != nil)
    {
      throw WorkerRefusal(errorNumber: 0, detail: "the worker does not have the secret \(missing)")
    }
    environment.set(
      task: plan.nameBytes(task), attempt: attempt, directory: directory, conclusion: conclusion,
      valuesPath: valuesPath, needsPath: needsPath, ports: ports)
    if let devices { environment.set(devices: devices) }
    var streams = streams
    if let jobserver {
      streams.jobs = inherited(of: jobserver, in: directory)
      environment.set(jobserver, isInherited: streams.jobs != nil)
    }
    if setPlainWords(of: task) {
      do throws(ProgramError) {
        return try spawn(streams, hasDirectory: !directory.isEmpty)
      } catch {
        // The shell reports the failure in its usual words and exit code, or runs what the kernel
        // refuses (a script without a `#!` line).
        if error.step != .execute { throw refusal(error, in: directory) }
      }
    }
    try setWords(of: task, late?.words ?? [:])
    do throws(ProgramError) {
      return try spawn(streams, hasDirectory: !directory.isEmpty)
    } catch {
      throw refusal(error, in: directory)
    }
  }

  /// nil unless programs must inherit the pipe.
  private func inherited(
    of jobserver: JobserverOffer, in folder: UnsafeRawBufferPointer
  ) -> (Int32, Int32)? {
    switch jobserver.style {
    case .fifo: return nil
    case .pipe: return (jobserver.read, jobserver.write)
    case .ofMake:
      // SAFETY: reads the task's environment, which its start uses too.
      let make = found("make", in: String(decoding: folder, as: UTF8.self))
      let knowsPaths = make.map { JobserverOffer.knowsPaths(make: $0) } ?? true
      return knowsPaths ? nil : (jobserver.read, jobserver.write)
    }
  }

  /// Uses the folder and environment of the last started task.
  func startBeside(_ command: [String], output: Int32) throws(ProgramError) -> Int32 {
    words.removeAll()
    for word in command { words.append(Array(word.utf8)) }
    let process = try spawn(.logged(output: output), hasDirectory: true)
    return process.pid
  }

  /// A script that is one plain command for the default shell starts without a shell. Returns false
  /// for other scripts.
  private func setPlainWords(of task: TaskID) -> Bool {
    // Without PATH a shell uses its own default, and bash imports functions from the environment.
    guard plan.kind(task) == .shell, environment.hasPath, !environment.hasShellFunctions,
      isDefaultShell(plan.record(task).shell)
    else { return false }
    let script = plan.script(task)
    guard let plain = SimpleCommand.words(of: script) else { return false }
    words.removeAll()
    for word in plain { words.append(UnsafeRawBufferPointer(rebasing: script[word])) }
    return true
  }

  /// A script follows the words of its shell.
  private func setWords(of task: TaskID, _ late: [Int: [UInt8]]) throws(WorkerRefusal) {
    words.removeAll()
    switch plan.kind(task) {
    case .shell where plan.script(task).count >= Self.longestWord: try setScriptFile(of: task)
    case .shell:
      for word in plan.list(plan.record(task).shell) { words.append(plan.text(word)) }
      words.append(plan.script(task))
      if let arguments, arguments.task == task, let word = plan.wordBeforeArguments(task) {
        words.append(word)
      }
    case .command:
      for (place, word) in plan.words(task).enumerated() {
        if place == 0, plan.makesInstances(task) {
          words.append(Array(Self.ownProgram.utf8))
        } else if let text = late.isEmpty ? nil : late[place] {
          words.append(text)
        } else {
          words.append(plan.text(word))
        }
      }
    case .download, .approve, .block:
      throw WorkerRefusal(errorNumber: 0, detail: "this worker runs only commands")
    }
    // Generators find the run by this folder.
    if plan.makesInstances(task), let folder = plans.runFolder { words.append(Array(folder.utf8)) }
    if let arguments, arguments.task == task {
      for word in arguments.words { words.append(word) }
    }
    guard words.count > 0 else {
      throw WorkerRefusal(errorNumber: 0, detail: "it has no command")
    }
  }

  /// For one argument or variable, zero included (execve(2)).
  private static let longestWord = 32 * 4096

  /// Passes a script that is too long for an argument as a file.
  private func setScriptFile(of task: TaskID) throws(WorkerRefusal) {
    let script = plan.script(task)
    guard let before = plan.wordsBeforeScriptFile(task) else {
      throw WorkerRefusal(
        errorNumber: Errno.tooBig.rawValue,
        detail:
          "its script has \(SizeText.text(bytes: UInt64(script.count))), but an argument can have"
          + " only 128 KiB; put the script into a file")
    }
    let path = Self.scriptFile(beside: taskFolder)
    do throws(Errno) {
      endScript()
      try File.open(path, [.writeOnly, .create, .exclusive, .noFollow], mode: 0o600)
        .writeAll(script)
      hasScriptFile = true
    } catch {
      throw WorkerRefusal(
        errorNumber: error.rawValue, detail: "cannot write its script to \(path): \(error)")
    }
    for word in before { words.append(word) }
    words.append(path)
  }

  static func scriptFile(beside taskFolder: String) -> String { taskFolder + ".script" }

  func endScript() {
    if !hasScriptFile { return }
    hasScriptFile = false
    // The next session removes leftovers (`TaskFolder.removeLeft`).
    try? Path.removeIfThere(Self.scriptFile(beside: taskFolder))
  }

  private func isDefaultShell(_ list: ListIndex) -> Bool {
    if let known = knownShell, known.list == list { return known.isDefault }
    let isDefault = plan.isDefaultShell(list)
    knownShell = (list, isDefault)
    return isDefault
  }

  /// Independent of PATH.
  private static let ownProgram = "/proc/self/exe"

  private static let options: Program.Options = [.diesWithParent, .signalsPrepared]
  private static let optionsOfGroup: Program.Options = [
    .newGroup, .diesWithParent, .signalsPrepared,
  ]

  private func spawn(
    _ streams: TaskStreams, hasDirectory: Bool
  ) throws(ProgramError) -> SpawnedProcess {
    // SAFETY: the blocks live as long as this object and are not touched during the call.
    try Program.spawn(
      ProgramStart(
        file: words[0], searchPath: environment.searchPath, arguments: words.pointers,
        environment: environment.pointers, directory: hasDirectory ? folder[0] : nil,
        input: streams.input, output: streams.output, error: streams.output,
        options: streams.leadsGroup ? Self.optionsOfGroup : Self.options,
        group: streams.group, further: streams.jobs))
  }

  private func refusal(_ error: ProgramError, in folder: UnsafeRawBufferPointer) -> WorkerRefusal {
    let directory = String(decoding: folder, as: UTF8.self)
    let detail: String
    switch error.step {
    case .process, .session, .descriptors:
      return WorkerRefusal(
        errorNumber: error.errno.rawValue, detail: "cannot start a process: \(error.errno)",
        isShortage: error.errno.isShortage)
    case .directory: detail = "cannot enter the folder `\(directory)`: \(error.errno)"
    case .execute:
      // SAFETY: the words are still those of the call that failed.
      let file = String(cString: words[0])
      detail = unexecuted(file, error.errno, in: directory)
    }
    return WorkerRefusal(errorNumber: error.errno.rawValue, detail: detail)
  }

  private func unexecuted(_ file: String, _ error: Errno, in directory: String) -> String {
    let text = "cannot execute `\(file)`: \(error)"
    switch error {
    case .notExecutable: return "\(text); a script needs a first line such as #!/bin/sh"
    case .tooBig: return "\(text); \(excess)"
    case .noSuchFile:
      let isPath = file.utf8.contains(UInt8(ascii: "/"))
      let path = isPath ? absolute(file, in: directory) : found(file, in: directory)
      if let path, Path.exists(path) { return "\(text); the file exists, its interpreter does not" }
      return isPath ? text : "`\(file)` not found in PATH"
    default: return text
    }
  }

  /// Names the arguments or variables that are too long.
  private var excess: String {
    let most = "the kernel allows 128 KiB"
    let variable = environment.longest
    if variable.byteCount > Self.longestWord {
      return "the variable \(variable.name) has \(Self.size(variable.byteCount)), and \(most)"
    }
    if let word = words.longest, words.byteCount(word) > Self.longestWord {
      return "argument \(word) has \(Self.size(words.byteCount(word))), and \(most)"
    }
    return "its arguments (\(Self.size(words.byteCount))) and environment"
      + " (\(Self.size(environment.byteCount))) exceed the kernel's limit, a quarter of `ulimit -s`"
  }

  private static func size(_ count: Int) -> String { SizeText.text(bytes: UInt64(count)) }

  private func absolute(_ path: String, in directory: String) -> String {
    path.hasPrefix("/") ? path : directory + "/" + path
  }

  private func found(_ name: String, in directory: String) -> String? {
    // SAFETY: the environment is still that of the call that failed.
    let folders = String(cString: environment.searchPath)
    return folders.split(separator: ":", omittingEmptySubsequences: false)
      .map { absolute("\($0.isEmpty ? "." : $0)/\(name)", in: directory) }
      .first { Path.exists($0) && !Path.isDirectory($0) }
  }
}

/// The environment of tasks for execve(2), kept while successive tasks share one.
struct TaskEnvironment: ~Copyable {
  private let inherited: [[UInt8]]
  /// Indices by the hash of the name.
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
  /// The task does not set TRACEPARENT.
  private var givesTrace = false
  private let block = StringBlock()
  /// The plan's lists in `block`.
  private var lists: (variables: UInt32, secrets: ListIndex)?
  private var pathIndex: Int?
  /// Strings at the end of the block that belong to one task.
  private var ownCount = 0
  /// Functions that bash exported (BASH_FUNC_NAME%%) may replace any command.
  let hasShellFunctions: Bool
  private let defaultPath = StringBlock(["/bin:/usr/bin"])

  /// The flags of a task with a jobserver, without it.
  private var makeFlags: [UInt8] = []

  private static let makeVariable = "MAKEFLAGS", cargoVariable = "CARGO_MAKEFLAGS"
  private static let jobVariables = [makeVariable, cargoVariable, "MFLAGS"]

  private static let own = [
    RunsAround.ownVariable, RunsAround.folderVariable, RunsAround.variable, TaskAround.variable,
    "OPFLOW_ATTEMPT", "OPFLOW_RUN_STATE", "OPFLOW_VALUES", "OPFLOW_NEEDS", "OPFLOW_TMP", "PWD",
  ]
  private let ports: [String]

  /// `sharesDevices`: opflow assigns GPUs, so a task without a GPU must not see any.
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
    // An empty state means a missing one (`WorkerProgram`).
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

  /// Remembers `MAKEFLAGS`, which the jobserver extends. Returns true if the jobserver replaces the
  /// variable.
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

  /// The `=` is tested first, as it rules out most entries.
  private static func isOf(_ name: String, _ entry: [UInt8]) -> Bool {
    let count = name.utf8.count
    return entry.count > count && entry[count] == UInt8(ascii: "=") && entry.starts(with: name.utf8)
  }

  var hasPath: Bool { pathIndex != nil }

  var byteCount: Int { block.byteCount }

  /// The size includes name and zero.
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

  /// `late` replaces values by index. Returns the name of a secret missing in `secrets`.
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
    // The manifest takes precedence.
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
      where name.elementsEqual(Self.name(of: inherited[place])) { isSet[place] = true }
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
