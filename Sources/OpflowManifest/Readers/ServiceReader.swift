internal import OpflowCore

/// A service, as its task declares it.
struct ServiceValues {
  var kind = ServiceEntry.Kind.none
  /// Of `http`, `log` and `file`.
  var text: Scalar?
  var port: UInt32 = 0
  /// Of `exec`.
  var words: [Scalar] = []
  var timeoutMilliseconds = ServiceReadiness.standardTimeoutMilliseconds
  var intervalMilliseconds = ServiceReadiness.standardIntervalMilliseconds
  var restarts: UInt32 = 0
}

/// Reads `service`: how a task that does not end by itself comes to be ready.
struct ServiceReader {
  let values: ValueReader
  private let commands: CommandReader

  init(_ values: ValueReader) {
    self.values = values
    commands = CommandReader(values: values)
  }

  /// Called when it is known what else the task says.
  func read(_ keys: Fields<TaskKey>, into task: inout TaskValues) {
    guard let key = keys.key(.service) else { return }
    guard let service = readValue(key.value) else { return }
    task.service = service
    task.flags.insert(.service)
    refuse(keys, key, task)
    // What `defaults` say of tasks that end is not about it.
    task.settings.policy.timeoutMilliseconds = 0
    task.settings.policy.retryMax = 0
    task.settings.retryCodes = []
    task.own.insert(.policy)
    task.flags.remove(.failWhenInterrupted)
  }

  private func refuse(_ keys: Fields<TaskKey>, _ key: Node, _ task: TaskValues) {
    if keys.key(.run) == nil, keys.key(.download) != nil || keys.key(.approve) != nil {
      let other = keys.key(.download) == nil ? "`approve`" : "`download`"
      values.mistakes.error(
        values.document.place(key), "a service goes with `run`, not with \(other)",
        help: "it is a command that runs for as long as others need it")
    }
    for refused in TaskKey.notOfServices {
      guard let other = keys.key(refused) else { continue }
      values.mistakes.error(
        values.document.place(other), "`\(refused.name)` says nothing of a service",
        help: Self.help(for: refused))
    }
  }

  private static func help(for key: TaskKey) -> String {
    switch key {
    case .timeout: "how long it may take to be ready is `timeout` under `ready`"
    case .retry: "how often it starts again when it ends by itself is `restart` under `service`"
    default: "it runs for as long as others need it, and leaves no result; take it away"
    }
  }

  /// Nil for `false`, and for what cannot be read.
  private func readValue(_ node: Node) -> ServiceValues? {
    guard values.document.kind(node) == .mapping else {
      let subject = Subject(TaskKey.service)
      guard values.document.kind(node) == .scalar else {
        values.wrongType(node, subject, expected: "true or a map")
        return nil
      }
      return values.boolean(node, subject, expected: "true or a map") == true
        ? ServiceValues() : nil
    }
    let fields = values.maps.fields(node, values.tables.service, owner: "`service`")
    var service = ServiceValues()
    if let ready = fields[.ready] { readReady(ready, into: &service) }
    if let node = fields[.restart],
      let count = values.integer(node, Subject(ServiceKey.restart), in: KeyBounds.retries)
    {
      service.restarts = UInt32(count)
    }
    return service
  }

  private func readReady(_ node: Node, into service: inout ServiceValues) {
    guard values.document.kind(node) == .mapping else {
      values.wrongType(
        node, Subject(ServiceKey.ready), expected: "a map", help: "write { port: 5432 }")
      return
    }
    let fields = values.maps.fields(node, values.tables.ready, owner: "`ready`")
    if let node = fields[.timeout], let value = values.duration(node, Subject(ReadyKey.timeout)) {
      service.timeoutMilliseconds = value
    }
    if let node = fields[.every],
      let value = values.duration(node, Subject(ReadyKey.every))
    {
      service.intervalMilliseconds = max(value, 1)
    }
    let probes = ReadyKey.probes.compactMap { key in fields[key].map { (key, $0) } }
    if probes.count > 1, let last = probes.last {
      values.mistakes.error(
        values.document.place(last.1),
        "`ready` is one of \(Self.list(ReadyKey.probes)), and this one has \(probes.count)",
        help: "keep the one that tells best; `exec` runs a command that may look at all of it")
      return
    }
    guard let (key, value) = probes.first else {
      guard !ReadyKey.probes.contains(where: { fields.isMeant($0) }) else { return }
      values.mistakes.error(
        values.document.place(node), "`ready` says nothing of what makes the service ready",
        help: "give it one of \(Self.list(ReadyKey.probes));"
          + " without `ready` it is as soon as it has started"
      )
      return
    }
    readProbe(key, value, into: &service)
  }

  private static func list(_ keys: [ReadyKey]) -> String {
    keys.map { "`\($0.name)`" }.joined(separator: ", ")
  }

  private func readProbe(_ key: ReadyKey, _ node: Node, into service: inout ServiceValues) {
    switch key {
    case .port:
      guard let port = values.integer(node, Subject(key), in: KeyBounds.port) else { return }
      service.port = UInt32(port)
      service.kind = .port
    case .http:
      guard let url = values.filledString(node, Subject(key)) else { return }
      if let mistake = ServiceAddress.mistake(in: url.text.string) {
        values.mistakes.error(
          values.document.place(node), mistake,
          help: "write http://127.0.0.1:PORT/PATH: a service runs on this machine")
        return
      }
      service.text = url
      service.kind = .http
    case .log:
      guard let pattern = values.filledString(node, Subject(key)) else { return }
      service.text = pattern
      service.kind = .log
    case .file:
      guard let path = values.filledString(node, Subject(key)) else { return }
      service.text = path
      service.kind = .file
    case .exec:
      guard values.document.kind(node) == .sequence else {
        values.wrongType(
          node, Subject(key), expected: "a list of strings",
          help: "a list is a command: [pg_isready, -q]; a script: [sh, -c, …]")
        return
      }
      guard let words = commands.readWords(node, Subject(key)) else { return }
      service.words = words
      service.kind = .exec
    case .timeout, .every: break
    }
  }
}
