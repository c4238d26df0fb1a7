/// How it is seen that a service is ready, as a plan holds it.
package struct ServiceEntry: Hashable, Sendable, BitwiseCopyable {
  /// Of its definition, without those of the services that it needs; the builder sees to it.
  package internal(set) var definition: UInt64 = 0
  package var timeoutMilliseconds: UInt64 = ServiceReadiness.standardTimeoutMilliseconds
  package var intervalMilliseconds: UInt64 = ServiceReadiness.standardIntervalMilliseconds
  /// Of `http`, `log` and `file`.
  package var text = TextRef.empty
  /// The raw value of a `Kind`.
  package private(set) var code: UInt32
  package var port: UInt32 = 0
  /// Of `exec`: the words of a command.
  package var words: ListIndex = 0
  /// How often it starts again when it ends by itself.
  package var restarts: UInt32 = 0
  /// Names of ports that are found for it.
  package var ports: ListIndex = 0
  /// A record of a plan has no gaps.
  private var reserved: UInt32 = 0

  package enum Kind: UInt32, Sendable { case none, port, http, log, exec, file }

  package init(_ kind: Kind) { code = kind.rawValue }

  /// Nil for a number that is none.
  var kind: Kind? { Kind(rawValue: code) }
}

/// What makes a service ready, and for how long that is waited for.
package struct ServiceReadiness: Equatable, Sendable {
  package enum Probe: Equatable, Sendable {
    /// Ready as soon as it has started.
    case none
    /// Somebody listens on that port of this machine.
    case port(UInt16)
    /// The same of one that was found for it, by its name.
    case namedPort(String)
    /// A GET of that URL on this machine is answered by a status of 200 to 399. It may name ports by their
    /// variables (`ServicePorts.resolve`).
    case http(String)
    /// A line of its output has that in it, a pattern with `*` and `?`.
    case log(String)
    /// That command ends with exit code 0.
    case exec([String])
    /// That file is there, made or changed since the start. From the task's folder.
    case file(String)
  }

  package var probe: Probe
  package var timeoutMilliseconds: UInt64
  /// From one look to the next.
  package var intervalMilliseconds: UInt64

  package static let standardTimeoutMilliseconds: UInt64 = 60_000
  package static let standardIntervalMilliseconds: UInt64 = 200

  package init(
    probe: Probe, timeoutMilliseconds: UInt64 = Self.standardTimeoutMilliseconds,
    intervalMilliseconds: UInt64 = Self.standardIntervalMilliseconds
  ) {
    self.probe = probe
    self.timeoutMilliseconds = timeoutMilliseconds
    self.intervalMilliseconds = intervalMilliseconds
  }
}

extension Plan {
  /// Whether any task is a service.
  @inline(__always)
  package var hasServices: Bool { manifest.hasServices == 1 }

  @inline(__always)
  package func isService(_ task: TaskID) -> Bool { flags(task).contains(.service) }

  /// How a service comes to be ready.
  package func readiness(of task: TaskID) -> ServiceReadiness {
    let entry = services[Int(record[task.index].service)]
    let probe: ServiceReadiness.Probe =
      switch entry.kind {
      case .port where entry.port == 0: .namedPort(string(entry.text))
      case .port: .port(UInt16(truncatingIfNeeded: entry.port))
      case .http: .http(string(entry.text))
      case .log: .log(string(entry.text))
      case .exec: .exec(list(entry.words).map { string($0) })
      case .file: .file(string(entry.text))
      case ServiceEntry.Kind.none?, nil: .none
      }
    return ServiceReadiness(
      probe: probe, timeoutMilliseconds: entry.timeoutMilliseconds,
      intervalMilliseconds: entry.intervalMilliseconds)
  }

  /// The names of the ports that are found for a service at each of its starts.
  package func portNames(of service: TaskID) -> [String] {
    guard isService(service) else { return [] }
    return list(services[Int(record[service.index].service)].ports).map { string($0) }
  }

  /// The variables of all ports that are found for services.
  package var portVariables: [String] {
    guard hasServices else { return [] }
    return services.flatMap { list($0.ports) }.map { ServicePorts.variable(string($0)) }
  }

  /// A hash of a service's definition, without those of the services that it needs.
  func definition(ofService service: TaskID) -> UInt64 {
    services[Int(record[service.index].service)].definition
  }

  /// How often a service starts again that ends by itself after it was ready.
  package func restarts(of service: TaskID) -> Int {
    Int(services[Int(record[service.index].service)].restarts)
  }

  /// Whether a service stays until somebody ends it: nothing needs it, or it was named.
  ///
  /// - Parameter named: the tasks that were; nil for none.
  func stays(_ service: TaskID, named: TaskSet?) -> Bool {
    dependents(service).isEmpty || named?.contains(service) == true
  }

  /// The services that a task needs, in the order of its needs.
  package func services(neededBy task: TaskID) -> [TaskID] {
    guard hasServices else { return [] }
    return needs(task).lazy.map { TaskID(self.needTargets[$0]) }.filter { self.isService($0) }
  }
}

// MARK: - Validation

extension Plan {
  func isSound(_ entry: ServiceEntry) -> Bool {
    guard let kind = entry.kind, isSound(entry.text), Int(entry.words) + 1 < listOffsets.count,
      entry.intervalMilliseconds > 0, Int(entry.ports) + 1 < listOffsets.count,
      Int(listOffsets[Int(entry.ports) + 1]) - Int(listOffsets[Int(entry.ports)])
        <= ServicePorts.mostPorts
    else { return false }
    switch kind {
    case .none: return true
    case .port where entry.port == 0: return entry.text.length > 0
    case .port: return (1...65535).contains(entry.port)
    case .http, .log, .file: return entry.text.length > 0
    case .exec:
      let words = Int(entry.words)
      return listOffsets[words] < listOffsets[words + 1]
    }
  }

  /// The same of one task, for a worker.
  func validateService(of task: TaskID) throws(PlanError) {
    let entry = services[Int(record[task.index].service)]
    guard isSound(entry) else { throw .reference(.services) }
    try validateWords(entry.words)
    try validateWords(entry.ports)
  }
}
