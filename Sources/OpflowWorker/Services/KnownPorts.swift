internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

/// Of the services that tasks of this worker use, and of the service it runs.
struct KnownPorts {
  private let plans: WorkerPlan
  private var plan: Plan { plans.current }
  /// By the coordinator.
  private var told: [TaskID: [UInt16]] = [:]
  private var own: [ReservedPort] = []

  init(_ plans: WorkerPlan) { self.plans = plans }

  mutating func note(_ order: WorkerOrder) {
    if case .ports(let service, let ports) = order { told[service] = ports }
  }

  mutating func reserve(for service: TaskID) throws(Errno) -> ServicePorts {
    own = []
    let names = plan.portNames(of: service)
    for _ in names { own.append(try ReservedPort()) }
    return ServicePorts(names, ownNumbers)
  }

  var ownNumbers: [UInt16] { own.map(\.number) }

  /// Right before the service binds the ports.
  func open() { for port in own { port.open() } }

  mutating func release() { own = [] }

  /// For the ports of the services that the task needs, and its own.
  func variables(of task: TaskID) -> [String] {
    guard plan.hasServices else { return [] }
    var ports: [ServicePorts.Port] = []
    for service in plan.services(neededBy: task) {
      guard let numbers = told[service] else { continue }
      ports += ServicePorts(plan.portNames(of: service), numbers).all
    }
    if plan.isService(task) { ports += ServicePorts(plan.portNames(of: task), ownNumbers).all }
    return ports.map { "\(ServicePorts.variable($0.name))=\($0.number)" }
  }
}
