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
        key, "a service must have `run`, not `\(other.name)`",
        help: "a service is a command that runs while its dependents run")
    }
    for refused in TaskKey.notOfServices {
      guard let other = keys.key(refused) else { continue }
      error(other, "a service cannot have `\(refused.name)`", help: Self.help(for: refused))
    }
  }

  private static func help(for key: TaskKey) -> String {
    switch key {
    case .timeout:
      "for its start-up time, write `timeout` under `ready`: "
        + "`service: { ready: { port: 8080, timeout: 30s } }`"
    case .retry: "to start it again when it exits, write `service: { restart: 3 }`"
    default: "it runs while its dependents run, and has no result; remove `\(key.name)`"
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

  /// The number in `ports: 8080` or `ports: [8080]`.
  private func fixedPort(_ node: Node) -> String? {
    var first = node
    if document.kind(node) == .sequence {
      var children = document.children(node)
      guard let child = children.next() else { return nil }
      first = child
    }
    guard let text = document.scalarText(first), document.isPlain(first), text.count <= 5,
      CoreSchema.integer(text) != nil
    else { return nil }
    return text.string
  }

  private func readPorts(_ node: Node, into service: inout ServiceValues) {
    if let number = fixedPort(node) {
      return diagnostics.error(
        document.place(node), "`ports` must be a list of names, not of numbers",
        help:
          "write a fixed port in the command and in `ready: { port: \(number) }`, not in `ports`")
    }
    guard
      let names = values.strings(node, ServiceKey.ports, expected: "a list of names")
    else { return }
    if names.isEmpty, document.children(node).isEmpty {
      error(node, "`ports` is empty", help: "write a name for each port: [http]")
    }
    for name in names {
      let text = name.text.string
      let place = document.place(name.node)
      if !ServicePorts.isName(text) {
        let isNumber = text.utf8.allSatisfy(ASCII.isDigit)
        diagnostics.error(
          place, "`\(text)` is not a valid port name",
          help: isNumber
            ? "write a fixed port in the command and in `ready: { port: \(text) }`, not in `ports`"
            : "a name has letters, digits, `_` and `-`, and begins with a letter or `_`")
      } else if service.portVariables.contains(ServicePorts.variable(text)) {
        diagnostics.error(
          place, "another port has the same variable, \(ServicePorts.variable(text))",
          help: "choose names that differ in more than `-`, `_` and capitals")
      } else if service.ports.count == ServicePorts.mostPorts {
        return diagnostics.error(
          place, "a service can have at most \(ServicePorts.mostPorts) `ports`")
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
        last.1, "`ready` can have only one of \(Self.list(ReadyKey.probes)), not \(probes.count)",
        help: "keep one; a command under `exec` can check several things")
    }
    guard let (key, value) = probes.first else {
      guard !ReadyKey.probes.contains(where: { fields.isMeant($0) }) else { return }
      return error(
        node, "`ready` has no check",
        help: "add one of \(Self.list(ReadyKey.probes));"
          + " without `ready`, a service is ready when it has started")
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
          node, "`\(scalar.text.string)` is not one of the service's `ports`",
          help: names.isEmpty
            ? "add it: `ports: [\(scalar.text.string)]`" : "its ports: \(names)")
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
          node, "`\(unknown)` in `http` is not a port of this service",
          help: known.isEmpty
            ? "name the port: `ports: [NAME]`"
            : "its ports: \(known.map { "$" + $0 }.joined(separator: ", "))")
      }
      if let problem = ServiceAddress.problem(in: address) {
        return error(
          node, problem, help: "write http://127.0.0.1:PORT/PATH; a service runs on this machine")
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
          help: "write a command as a list: [pg_isready, -q]; a script: [sh, -c, \"…\"]")
      }
      guard let words = commands.readWords(node, Subject(key)) else { return }
      service.words = words
      service.kind = .exec
    case .timeout, .every: break
    }
  }
}
