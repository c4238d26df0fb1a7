internal import OpflowCore
internal import OpflowSystem

/// The ports of services that tasks of a worker need, and of the one that it runs itself.
struct KnownPorts {
  private let plans: WorkerPlan
  private var plan: Plan { plans.current }
  /// As orders told.
  private var told: [TaskID: [UInt16]] = [:]
  /// Of the service that runs.
  private var own: [ReservedPort] = []

  init(_ plans: WorkerPlan) { self.plans = plans }

  /// Takes in what an order tells of ports.
  mutating func note(_ order: WorkerOrder) {
    if case .ports(let service, let ports) = order { told[service] = ports }
  }

  /// Finds ports for a service that is about to start.
  mutating func reserve(for service: TaskID) throws(Errno) -> ServicePorts {
    own = []
    let names = plan.portNames(of: service)
    for _ in names { own.append(try ReservedPort()) }
    return ServicePorts(names, ownNumbers)
  }

  var ownNumbers: [UInt16] { own.map(\.number) }

  /// Its process is about to start, and to bind them.
  func open() { for port in own { port.open() } }

  /// It has ended.
  mutating func release() { own = [] }

  /// What a task finds in its environment: the ports of the services that it needs, and those of its own.
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
