/// A service's probe and restarts.
package struct ServiceEntry: Hashable, Sendable, BitwiseCopyable {
  /// Without its dependencies' definitions. Set by the builder.
  package internal(set) var definition: UInt64 = 0
  package var timeoutMilliseconds: UInt64 = ServiceReadiness.standardTimeoutMilliseconds
  package var intervalMilliseconds: UInt64 = ServiceReadiness.standardIntervalMilliseconds
  /// For `http`, `log`, `file` and `port`: the URL, pattern, path or port name.
  package var text = TextRef.empty
  package private(set) var code: UInt32
  package var port: UInt32 = 0
  package var words: ListIndex = 0
  /// For a service that exits by itself.
  package var restarts: UInt32 = 0
  /// Names of the ports that opflow allocates.
  package var ports: ListIndex = 0
  /// Records in a plan have no implicit gaps.
  private var reserved: UInt32 = 0

  package enum Kind: UInt32, Sendable { case none, port, http, log, exec, file }

  package init(_ kind: Kind) { code = kind.rawValue }

  var kind: Kind? { Kind(rawValue: code) }
}

/// The probe that makes a service ready.
package struct ServiceReadiness: Equatable, Sendable {
  package enum Probe: Equatable, Sendable {
    case none
    /// Something listens on this local port.
    case port(UInt16)
    /// Something listens on the allocated port with this name.
    case namedPort(String)
    /// A GET of this local URL answers with 200 to 399. It may contain port variables
    /// (`ServicePorts.resolve`).
    case http(String)
    /// A line of its output contains this pattern (`*` and `?`).
    case log(String)
    case exec([String])
    /// Created or changed since the start; relative to the task's folder.
    case file(String)
  }

  package var probe: Probe
  package var timeoutMilliseconds: UInt64
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
  @inline(__always)
  package var hasServices: Bool { manifest.hasServices == 1 }

  @inline(__always)
  package func isService(_ task: TaskID) -> Bool { flags(task).contains(.service) }

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

  package func portNames(of service: TaskID) -> [String] {
    guard isService(service) else { return [] }
    return list(services[Int(record[service.index].service)].ports).map { string($0) }
  }

  package var portVariables: [String] {
    guard hasServices else { return [] }
    return services.flatMap { list($0.ports) }.map { ServicePorts.variable(string($0)) }
  }

  /// Without its dependencies' definitions.
  func definition(ofService service: TaskID) -> UInt64 {
    services[Int(record[service.index].service)].definition
  }

  /// For a service that exits after it was ready.
  package func restarts(of service: TaskID) -> Int {
    Int(services[Int(record[service.index].service)].restarts)
  }

  /// A service runs until the user stops it if it has no dependents or was selected.
  ///
  /// - Parameter named: the selected tasks; nil for none.
  package func stays(_ service: TaskID, named: TaskSet?) -> Bool {
    dependents(service).isEmpty || named?.contains(service) == true
  }

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

  func validateService(of task: TaskID) throws(PlanError) {
    let entry = services[Int(record[task.index].service)]
    guard isSound(entry) else { throw .reference(.services) }
    try validateWords(entry.words)
    try validateWords(entry.ports)
  }
}
