package struct ServiceEntry: Hashable, Sendable, BitwiseCopyable {
  /// Excludes the definitions of its dependencies. Set by the builder.
  package internal(set) var definition: UInt64 = 0
  package var timeoutMilliseconds: UInt64 = ServiceReadiness.standardTimeoutMilliseconds
  package var intervalMilliseconds: UInt64 = ServiceReadiness.standardIntervalMilliseconds
  /// For `http`, `log`, `file` and `port`: the URL, pattern, path or port name.
  package var text = TextRef.empty
  package private(set) var code: UInt32
  package var port: UInt32 = 0
  package var words: ListIndex = 0
  /// The number of restarts after an exit.
  package var restarts: UInt32 = 0
  package var ports: ListIndex = 0
  /// Records in a plan do not have implicit gaps.
  private var reserved: UInt32 = 0

  package enum Kind: UInt32, Sendable { case none, port, http, log, exec, file }

  package init(_ kind: Kind) { code = kind.rawValue }

  var kind: Kind? { Kind(rawValue: code) }
}

package struct ServiceReadiness: Equatable, Sendable {
  package enum Probe: Equatable, Sendable {
    case none
    case port(UInt16)
    /// The allocated port with this name.
    case namedPort(String)
    /// A GET of this local URL answers with 200 to 399. May contain port variables
    /// (`ServicePorts.resolve`).
    case http(String)
    /// A line of the output contains this pattern (`*` and `?`).
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

  func definition(ofService service: TaskID) -> UInt64 {
    services[Int(record[service.index].service)].definition
  }

  package func restarts(of service: TaskID) -> Int {
    Int(services[Int(record[service.index].service)].restarts)
  }

  /// A service runs until the user stops it if it has no dependents or is one of the `named`
  /// (selected) tasks.
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

/// Services and dependents that must run on the same node, because a service is reached through its
/// node's address. A dependent of two services joins their groups.
package struct ServiceGroups: Sendable {
  /// Per task: its group; -1 without services, or if a member must run on the coordinator's
  /// machine. Empty in a plan without services.
  private var groups: [Int32] = []
  package private(set) var count = 0

  /// A service must stay on the coordinator's machine for a reason outside the plan.
  package init(_ plan: Plan, staysHere: (TaskID) -> Bool = { _ in false }) {
    guard plan.hasServices else { return }
    var roots = [Int32](repeating: -1, count: plan.taskCount)
    for index in plan.tasks {
      let task = TaskID(index)
      let services = plan.services(neededBy: task)
      if services.isEmpty && !plan.isService(task) { continue }
      if roots[task.index] < 0 { roots[task.index] = task.rawValue }
      for service in services {
        if roots[service.index] < 0 { roots[service.index] = service.rawValue }
        let (own, other) = (
          Self.root(of: task.rawValue, &roots), Self.root(of: service.rawValue, &roots)
        )
        roots[Int(max(own, other))] = min(own, other)
      }
    }
    var stay: Set<Int32> = []
    for index in plan.tasks where roots[Int(index)] >= 0 {
      let task = TaskID(index)
      if plan.staysOnCoordinator(task) || plan.isService(task) && staysHere(task) {
        stay.insert(Self.root(of: task.rawValue, &roots))
      }
    }
    number(&roots, without: stay)
  }

  private static func root(of task: Int32, _ roots: inout [Int32]) -> Int32 {
    var task = task
    while roots[Int(task)] != task {
      roots[Int(task)] = roots[Int(roots[Int(task)])]
      task = roots[Int(task)]
    }
    return task
  }

  private mutating func number(_ roots: inout [Int32], without stay: Set<Int32>) {
    groups = roots
    for task in roots.indices where roots[task] >= 0 {
      let root = Self.root(of: Int32(truncatingIfNeeded: task), &roots)
      if stay.contains(root) {
        groups[task] = -1
      } else if Int(root) == task {
        groups[task] = Int32(truncatingIfNeeded: count)
        count += 1
      } else {
        // The root has the lowest index, so it is already numbered.
        groups[task] = groups[Int(root)]
      }
    }
  }

  /// nil if bound to the coordinator's machine.
  package func group(of task: TaskID) -> Int? {
    if groups.isEmpty { return nil }
    let group = Int(groups[task.index])
    return group < 0 ? nil : group
  }
}

extension Plan {
  package func staysOnCoordinator(_ task: TaskID) -> Bool {
    let (kind, flags) = (kind(task), flags(task))
    return kind == .download || kind == .approve || kind == .block || flags.contains(.finally)
      || flags.contains(.interactive) || record(task).processes.isLocal
  }
}

package struct ServicePorts: Equatable, Sendable {
  package struct Port: Equatable, Sendable {
    package let name: String
    package let number: UInt16
  }

  package let all: [Port]

  package static let mostPorts = 16
  private static let prefix = "OPFLOW_PORT_"

  package init(_ names: [String], _ numbers: [UInt16]) {
    all = zip(names, numbers).map { Port(name: $0, number: $1) }
  }

  // MARK: Names

  /// A letter or `_`, then letters, digits, `_` and `-`.
  package static func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first, first < UInt8(ascii: "0") || first > UInt8(ascii: "9") else {
      return false
    }
    return first != UInt8(ascii: "-")
      && text.utf8.allSatisfy { isOfVariable($0) || $0 == UInt8(ascii: "-") }
  }

  private static func isOfVariable(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  package static func variable(_ name: String) -> String {
    prefix + name.uppercased().replacing("-", with: "_")
  }

  // MARK: In the address of a service

  /// Replaces `$OPFLOW_PORT_NAME` and `${OPFLOW_PORT_NAME}`; nil for an unknown variable.
  package static func resolve(
    _ text: String, unknown: inout String, number: (String) -> UInt16?
  ) -> String? {
    var result = ""
    var rest = text[...]
    while let dollar = rest.firstIndex(of: "$") {
      result += rest[..<dollar]
      rest = rest[rest.index(after: dollar)...]
      let isBraced = rest.first == "{"
      if isBraced { rest.removeFirst() }
      let name = rest.prefix { $0.utf8.count == 1 && isOfVariable($0.utf8.first ?? 0) }
      rest = rest[name.endIndex...]
      if isBraced {
        guard rest.first == "}" else {
          unknown = "${" + name
          return nil
        }
        rest.removeFirst()
      }
      guard let number = number(String(name)) else {
        unknown = "$" + name
        return nil
      }
      result += "\(number)"
    }
    return result + rest
  }

  package func resolve(_ text: String) -> String? {
    var unknown = ""
    return Self.resolve(text, unknown: &unknown) { variable in
      all.first { Self.variable($0.name) == variable }?.number
    }
  }

  package subscript(name: String) -> UInt16? { all.first { $0.name == name }?.number }

  // MARK: As text

  /// `NAME:NUMBER,NAME:NUMBER`, as in a `ready` line.
  package var text: String { all.map { "\($0.name):\($0.number)" }.joined(separator: ",") }

  package init?(text: String) {
    var all: [Port] = []
    for item in text.split(separator: ",", omittingEmptySubsequences: false) {
      let parts = item.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count == 2, Self.isName(String(parts[0])), let number = UInt16(parts[1]),
        number > 0, all.count < Self.mostPorts
      else { return nil }
      all.append(Port(name: String(parts[0]), number: number))
    }
    self.all = all
  }

  /// `http 41234, admin 41235`.
  package var words: String { all.map { "\($0.name) \($0.number)" }.joined(separator: ", ") }
}
