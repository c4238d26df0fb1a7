internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWorker

/// Reads secrets from the sources in the manifest, once per session, before anything starts.
/// Secrets are never written to a file.
struct SecretTaking {
  private let plan: Plan
  /// The secrets that selected tasks may read, and these tasks.
  private var wanted: Set<String> = []
  private var wanting: Set<String> = []
  private var values: [SecretValue] = []
  private var faults: [SecretFault] = []
  private var totalBytes = 0
  private var complaints: [[UInt8]] = []
  /// Includes the output of commands that failed.
  private var printed: [SecretValue] = []

  /// Allows for a newline at the end.
  private static let longestReadBytes = SecretValue.longestBytes + 2

  /// Reads the secrets of selected tasks, and all others in the environment, to mask them too.
  /// Removes all from this process's environment. `copies` will be written to the run's folder;
  /// `complain` receives standard error of commands, and warnings. Throws all unavailable secrets.
  static func take(
    _ plan: Plan, _ initial: [InitialState], copies: [WrittenSecrets.Copy],
    complain: (String) -> Void
  ) throws(SecretFaults) -> [SecretValue] {
    var taking = SecretTaking(plan: plan)
    taking.note(initial)
    let specs = plan.secrets
    let variables = specs.flatMap { spec in
      if case .environment(let name) = spec.source { [spec.name, name] } else { [spec.name] }
    }
    // An earlier session of this process has removed them (`run --watch`).
    Environment.putBack(variables)
    for spec in specs { taking.take(spec) }
    Environment.remove(variables)
    taking.tell(complain)
    if !taking.faults.isEmpty {
      throw SecretFaults(faults: taking.faults, tasks: taking.wanting)
    }
    for warning in WrittenSecrets.warnings(taking.values, in: plan, copies: copies) {
      complain(warning)
    }
    return taking.values
  }

  /// Returns secrets that are evidently missing, without reading secrets or running commands.
  static func missing(_ plan: Plan, _ initial: [InitialState]) -> [String] {
    var taking = SecretTaking(plan: plan)
    taking.note(initial)
    return plan.secrets.filter { spec in
      guard taking.wanted.contains(spec.name) else { return false }
      return switch spec.source {
      case .environment(let name): (Environment.bytes(name) ?? []).isEmpty
      case .file(let path): !Path.exists(path)
      case .command: false
      }
    }.map(\.name)
  }

  private init(plan: Plan) { self.plan = plan }

  private mutating func note(_ initial: [InitialState]) {
    let skipped = plan.skippedFromTheStart(initial)
    for index in plan.tasks where initial[index].mayStart {
      let task = TaskID(index)
      guard plan.record(task).texts[.secrets] != 0, !skipped.contains(task) else { continue }
      wanted.formUnion(plan.secretNames(task))
      wanting.insert(plan.nameString(task))
    }
  }

  private mutating func take(_ spec: SecretSpec) {
    let isWanted = wanted.contains(spec.name)
    // Other secrets are read only from the environment, to mask them.
    guard isWanted || spec.source.isEnvironment else { return }
    do throws(SecretFault) {
      let bytes = try read(spec)
      try check(bytes, spec)
      values.append(SecretValue(name: spec.name, bytes: bytes))
    } catch {
      if isWanted { faults.append(error) }
    }
  }

  private mutating func read(_ spec: SecretSpec) throws(SecretFault) -> [UInt8] {
    switch spec.source {
    case .environment(let name):
      let value = Environment.bytes(name) ?? []
      if !value.isEmpty { return value }
      throw SecretFault(
        spec, "is not set",
        help: "set `\(name)` in the environment of opflow, or give its source under `secrets` at"
          + " the top level")
    case .file(let path): return try readFile(path, spec)
    case .command(let words): return try readCommand(words, spec)
    }
  }

  private func readFile(_ path: String, _ spec: SecretSpec) throws(SecretFault) -> [UInt8] {
    var bytes: [UInt8]?
    do throws(Errno) {
      // Do not wait for a pipe.
      let file = try File.open(path, [.readOnly, .nonblocking])
      if try file.status().kind == .file {
        bytes = try file.readAll(atMost: Self.longestReadBytes + 1)
      }
    } catch {
      throw SecretFault(spec, "cannot be read: \(path): \(error)")
    }
    guard let bytes else {
      throw SecretFault(spec, "cannot be read: \(path) is not a regular file")
    }
    return Self.withoutLineEnd(bytes)
  }

  private static let patienceSeconds: Int64 = 60

  private mutating func readCommand(
    _ words: [String], _ spec: SecretSpec
  ) throws(SecretFault) -> [UInt8] {
    let name = words[0]
    if PrintingCommand.isAround(words, in: plan.string(plan.manifest.folder)) {
      throw SecretFault(
        spec,
        "cannot be read: this opflow runs inside `\(name)` and would start it again, without end")
    }
    let end: PrintingCommand.End
    let left: String
    var value: [UInt8] = []
    do throws(Errno) {
      var command = try PrintingCommand(words, in: plan.string(plan.manifest.folder))
      (end, value) = try command.finish(
        limit: Self.longestReadBytes, patienceSeconds: Self.patienceSeconds)
      if !command.complaints.isEmpty { complaints.append(command.complaints) }
      note(printed: value, spec)
      left = command.leftText
    } catch {
      throw SecretFault(spec, "cannot be read: `\(name)` cannot be started: \(error)")
    }
    switch end {
    case .exit(0): return Self.withoutLineEnd(value)
    case .exit(let code):
      throw SecretFault(spec, "cannot be read: `\(name)` exited with code \(code)")
    case .signal(let number):
      let signal = SignalName.spelled(number)
      throw SecretFault(spec, "cannot be read: `\(name)` was killed by \(signal)")
    case .printedTooMuch: throw Self.tooLong(spec)
    case .tookTooLong:
      throw SecretFault(
        spec, "cannot be read: `\(name)` took longer than \(Self.patienceSeconds) seconds\(left)")
    }
  }

  /// Each line may be the value or a part of it.
  private mutating func note(printed bytes: [UInt8], _ spec: SecretSpec) {
    for line in bytes.split(whereSeparator: { $0 == 10 || $0 == 13 })
    where line.count >= SecretValue.shortestBytes {
      printed.append(SecretValue(name: spec.name, bytes: Array(line)))
    }
  }

  private static func tooLong(_ spec: SecretSpec) -> SecretFault {
    SecretFault(spec, "is longer than \(SecretValue.longestBytes >> 10) KiB")
  }

  private mutating func check(_ bytes: [UInt8], _ spec: SecretSpec) throws(SecretFault) {
    if bytes.isEmpty { throw SecretFault(spec, "is empty") }
    if bytes.count > SecretValue.longestBytes { throw Self.tooLong(spec) }
    if bytes.count < SecretValue.shortestBytes {
      throw SecretFault(
        spec, "has fewer than \(SecretValue.shortestBytes) bytes",
        help: "opflow cannot mask so short a value in the output of tasks; set it under `env`")
    }
    if bytes.contains(0) {
      throw SecretFault(spec, "contains a NUL byte, which no variable can", help: "encode it")
    }
    totalBytes += bytes.count
    if totalBytes > SecretValue.longestTotalBytes {
      throw SecretFault(
        spec,
        "exceeds the limit of all secrets together, \(SecretValue.longestTotalBytes >> 20) MiB")
    }
  }

  private func tell(_ complain: (String) -> Void) {
    if complaints.isEmpty { return }
    let masker = Masker(values + printed)
    for bytes in complaints {
      let text = String(decoding: bytes, as: UTF8.self)
      let lines = (masker?.masked(text) ?? text).split(separator: "\n")
      for line in lines { complain(String(line)) }
    }
  }

  private static func withoutLineEnd(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.last == 10 else { return bytes }
    let line = bytes.dropLast()
    return Array(line.last == 13 ? line.dropLast() : line)
  }
}

extension SecretSource {
  fileprivate var isEnvironment: Bool {
    if case .environment = self { true } else { false }
  }
}

/// Why a needed secret is unavailable. Never contains the value.
package struct SecretFault: Error, Equatable {
  package let name: String
  /// Follows the name in the message.
  let detail: String
  let help: String?

  init(_ spec: SecretSpec, _ detail: String, help: String? = nil) {
    name = spec.name
    self.detail = detail
    self.help = help
  }
}

package struct SecretFaults: Error {
  package let faults: [SecretFault]
  package let tasks: Set<String>

  static func warning(_ missing: [String]) -> String? {
    missing.isEmpty
      ? nil
      : "missing secrets, without which the run does not start: "
        + missing.joined(separator: ", ")
  }
}
