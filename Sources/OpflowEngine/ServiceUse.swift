internal import OpflowPlan

/// Services with a worker or a share, and how many of their direct users have one.
struct ServiceUse {
  private var users: [TaskID: Int] = [:]
  private var held: Set<TaskID> = []
  /// Of services.
  private(set) var workers: [TaskID: WorkerID] = [:]
  /// Held without held users: services that stay up, and others.
  private(set) var idleStanding: Set<TaskID> = []
  private(set) var idle: Set<TaskID> = []

  /// With a worker or a share.
  func users(of service: TaskID) -> Int { users[service] ?? 0 }

  /// The task, which may be a service, has a share.
  mutating func hold(_ task: TaskID, _ kind: Kind, having services: [TaskID]) {
    for service in services {
      users[service, default: 0] += 1
      setIdle(service, nil)
    }
    guard kind != .task else { return }
    held.insert(task)
    if users(of: task) == 0 { setIdle(task, kind) }
  }

  enum Kind { case task, service, standingService }

  mutating func noteWorker(_ worker: WorkerID, of service: TaskID) { workers[service] = worker }

  /// The task has neither a share nor a worker any more.
  mutating func release(_ task: TaskID, having services: [TaskID], kind: (TaskID) -> Kind) {
    workers[task] = nil
    held.remove(task)
    setIdle(task, nil)
    for service in services {
      let count = users(of: service) - 1
      users[service] = count > 0 ? count : nil
      if count == 0, held.contains(service) { setIdle(service, kind(service)) }
    }
  }

  private mutating func setIdle(_ service: TaskID, _ kind: Kind?) {
    if kind == .standingService {
      idleStanding.insert(service)
    } else if kind == .service {
      idle.insert(service)
    } else {
      idle.remove(service)
      idleStanding.remove(service)
    }
  }
}
