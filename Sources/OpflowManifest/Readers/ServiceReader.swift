internal import OpflowBase
internal import OpflowPlan

struct ServiceValues {
  var kind = ServiceEntry.Kind.none
  /// The argument of `http`, `log` and `file`, or a port's name.
  var text: Scalar?
  var port: UInt32 = 0
  var words: [Scalar] = []
  var timeoutMilliseconds = ServiceReadiness.standardTimeoutMilliseconds
  var intervalMilliseconds = ServiceReadiness.standardIntervalMilliseconds
  var restarts: UInt32 = 0
  /// Each has a variable.
  var ports: [Scalar] = []

  var portVariables: [String] { ports.map { ServicePorts.variable($0.text.string) } }
}

struct ServiceReader: NodeReader {
  let values: ValueReader

  /// Must be called after all other keys of the task are read.
  func read(_ keys: Fields<TaskKey>, into task: inout TaskValues) {
    guard let key = keys.key(.service) else { return }
    guard let service = readValue(key.value) else { return }
    task.service = service
    task.flags.insert(.service)
    refuse(keys, key, task)
    // `defaults` about tasks that end do not apply.
    task.settings.policy.timeoutMilliseconds = 0
    task.settings.policy.retryMax = 0
    task.settings.retryCodes = []
    task.own.insert(.policy)
    task.flags.remove(.failWhenInterrupted)
  }

  private func refuse(_ keys: Fields<TaskKey>, _ key: Node, _ task: borrowing TaskValues) {
    let others: [TaskKey] = [.download, .approve, .block]
    if keys.key(.run) == nil, let other = others.first(where: { keys.key($0) != nil }) {
      error(
        key, "a service goes with `run`, not with `\(other.name)`",
        help: "it is a command that runs for as long as others need it")
    }
    for refused in TaskKey.notOfServices {
      guard let other = keys.key(refused) else { continue }
      error(other, "`\(refused.name)` says nothing of a service", help: Self.help(for: refused))
    }
  }

  private static func help(for key: TaskKey) -> String {
    switch key {
    case .timeout: "how long it may take to be ready is `timeout` under `ready`"
    case .retry: "how often it starts again when it ends by itself is `restart` under `service`"
    default: "it runs for as long as others need it, and leaves no result; take it away"
    }
  }

  private func readValue(_ node: Node) -> ServiceValues? {
    guard document.kind(node) == .mapping else {
      let subject = Subject(TaskKey.service)
      guard document.kind(node) == .scalar else {
        return values.wrongType(node, subject, expected: "true or a map")
      }
      return values.boolean(node, subject, expected: "true or a map") == true
        ? ServiceValues() : nil
    }
    let fields = maps.fields(node, tables.service)
    var service = ServiceValues()
    if let ports = fields[.ports] { readPorts(ports, into: &service) }
    if let ready = fields[.ready] { readReady(ready, into: &service) }
    if let count = integer(fields, .restart, in: KeyBounds.retries) {
      service.restarts = UInt32(count)
    }
    return service
  }

  private func readPorts(_ node: Node, into service: inout ServiceValues) {
    guard
      let names = values.strings(node, ServiceKey.ports, expected: "a list of names")
    else { return }
    if names.isEmpty, document.children(node).isEmpty {
      error(node, "`ports` is empty", help: "write a name for each: [http]")
    }
    for name in names {
      let text = name.text.string
      let place = document.place(name.node)
      if !ServicePorts.isName(text) {
        let isNumber = text.utf8.allSatisfy(ASCII.isDigit)
        diagnostics.error(
          place, "`ports` are names, and `\(text)` is none",
          help: isNumber
            ? "a fixed port goes into the command, and into `ready: { port: \(text) }`"
            : "a letter comes first, then letters, digits, `_` and `-`")
      } else if service.portVariables.contains(ServicePorts.variable(text)) {
        diagnostics.error(
          place, "the variable \(ServicePorts.variable(text)) is another port's already",
          help: "give them names that differ in more than `-` and capitals")
      } else if service.ports.count == ServicePorts.mostPorts {
        return diagnostics.error(place, "a service has at most \(ServicePorts.mostPorts) `ports`")
      } else {
        service.ports.append(name)
      }
    }
  }

  private func readReady(_ node: Node, into service: inout ServiceValues) {
    guard
      let fields = fields(
        node, Subject(ServiceKey.ready), tables.ready, help: "write { port: 5432 }")
    else { return }
    if let value = duration(fields, .timeout) { service.timeoutMilliseconds = value }
    if let value = duration(fields, .every) { service.intervalMilliseconds = max(value, 1) }
    let probes = ReadyKey.probes.compactMap { key in fields[key].map { (key, $0) } }
    if probes.count > 1, let last = probes.last {
      return error(
        last.1, "`ready` is one of \(Self.list(ReadyKey.probes)), and this one has \(probes.count)",
        help: "keep the one that tells best; `exec` runs a command that may look at all of it")
    }
    guard let (key, value) = probes.first else {
      guard !ReadyKey.probes.contains(where: { fields.isMeant($0) }) else { return }
      return error(
        node, "`ready` says nothing of what makes the service ready",
        help: "give it one of \(Self.list(ReadyKey.probes));"
          + " without `ready` it is as soon as it has started")
    }
    readProbe(key, value, into: &service)
  }

  private func readPort(_ node: Node, into service: inout ServiceValues) {
    let subject = Subject(ReadyKey.port)
    if let scalar = values.scalar(node, subject, expected: "a port's number or name"),
      scalar.type == .string, CoreSchema.integer(scalar.text) == nil
    {
      guard service.ports.contains(where: { $0.text.elementsEqual(scalar.text) }) else {
        let names = service.ports.map { "`\($0.text.string)`" }.joined(separator: ", ")
        return error(
          node, "`\(scalar.text.string)` is no name of this service's `ports`",
          help: names.isEmpty
            ? "it has none; give it `ports: [\(scalar.text.string)]`" : "it has \(names)")
      }
      service.text = scalar
      service.kind = .port
      return
    }
    guard let port = values.integer(node, subject, in: KeyBounds.port) else { return }
    service.port = UInt32(port)
    service.kind = .port
  }

  private static func list(_ keys: [ReadyKey]) -> String {
    keys.map { "`\($0.name)`" }.joined(separator: ", ")
  }

  private func readProbe(_ key: ReadyKey, _ node: Node, into service: inout ServiceValues) {
    switch key {
    case .port: readPort(node, into: &service)
    case .http:
      guard let url = values.filledString(node, Subject(key)) else { return }
      var unknown = ""
      let known = service.portVariables
      guard
        let address = ServicePorts.resolve(
          url.text.string, unknown: &unknown, number: { known.contains($0) ? 1 : nil })
      else {
        return error(
          node, "`\(unknown)` in `http` is no port of this service",
          help: known.isEmpty
            ? "it has none; give it `ports: [NAME]`"
            : "it has \(known.map { "$" + $0 }.joined(separator: ", "))")
      }
      if let problem = ServiceAddress.problem(in: address) {
        return error(
          node, problem, help: "write http://127.0.0.1:PORT/PATH: a service runs on this machine")
      }
      service.text = url
      service.kind = .http
    case .log, .file:
      guard let text = values.filledString(node, Subject(key)) else { return }
      service.text = text
      service.kind = key == .log ? .log : .file
    case .exec:
      guard document.kind(node) == .sequence else {
        return values.wrongType(
          node, Subject(key), expected: "a list of strings",
          help: "a list is a command: [pg_isready, -q]; a script: [sh, -c, …]")
      }
      guard let words = commands.readWords(node, Subject(key)) else { return }
      service.words = words
      service.kind = .exec
    case .timeout, .every: break
    }
  }
}
