/// Services as the drive knows them: what waits for them, which of them are ready, and which were told to end.
///
/// A service is a task that does not end by itself. It counts as there for those that need it, its users, as
/// soon as it has everything that it needs itself: from then on a user that has everything else is ready, and
/// takes what it wants together with what services want that it needs and that do not run yet, all or nothing.
///
///     (task states)            waiting ─► ready ─► running ───────► succeeded, failed, cancelled
///     (here, of a service)               idle ─► taken ─► started ─► up ─► stopping ─► (gone)
///                                         ▲        │         │        │       │
///                                         └────────┴─────────┴────────┴───────┘
///
/// - *idle*: it has all that it needs, and nobody holds anything for it.
/// - *taken*: its share is held (`waiting`), and it waits for services that it needs, or for a worker. Its users wait
///   there with theirs. A user that must not start any more gives back what was taken; a service that is taken
///   and has no user left does too.
/// - *started*: its worker has it. Where it ends now it has failed at once: nobody waits for what is not to come.
/// - *up*: it said that it is ready, which holds until it ends. Nobody looks again.
/// - *stopping*: it was told to end since nothing needs it, or since what is ready lacks what it holds while it
///   is idle. However it ends then is no failure. A user that becomes ready meanwhile waits for the end and starts it anew, so
///   that two of it never run at once (the old one would still have the port).
///
/// It ends when the trees of its users are gone, so that a service ends after what needs it, other services
/// included. An end that nobody ordered stops its running users, with reason `service-lost`; they are tried
/// again by their own rule, if it has starts left, and what waits with a share gives that back and is ready again.
/// One that is to start again while what it needs is tried again waits for that, and is not there for its users meanwhile.
/// It never waits for them while it holds what they want, nor they for it.
///
/// On further machines
/// -------------------
///
/// Who needs a service reaches it by the address of its own machine, so that a service, what needs it, and all else
/// that these are tied to by services form a group (`ServiceGroups`) which is on one machine at a time. A group of
/// which a task stays on the coordinator's machine is always there; so is one with a service that stays, since who
/// is to reach that is where the run was started.
///
///     free ─► bound to a machine ─► free
///                    └► stranded ───┘
///
/// - *free*: nobody of it holds anything. The first that takes its share chooses: of the machines on which it fits
///   with its services one on which the largest of the group fits, where none of them was lost before if there is
///   such a one, and the least loaded of these. What fits nowhere is cut to the largest machine, as for all tasks.
/// - *bound*: somebody of it holds a share (`Resources.Binding`), and all others start there or wait. It lasts until the
///   last share comes back, which is not before its worker is known to have nothing left.
/// - *stranded*: nothing more of it starts there: the machine leaves or is shunned, or all that is ready of the group may
///   only run elsewhere, as on one with more GPUs or more time left that joined since. What runs there ends as it does;
///   a service without users at work is told to end, and may start elsewhere. On a machine that is silent it is waited for,
///   since no order gets there.
///
/// What is taken on a machine (`waiting`) and not started when nothing more is to start there comes back at once.
/// When a machine is lost, what needs a service is lost before that is, so that none of it is told to end; it costs no
/// try. When a machine leaves, whatever ends a service there is no end in use, but for one that was told to end anyway.
///
/// Races, beyond those of machines (`Machines`):
/// - *A user's services come up when less time is left than it takes*: its share comes back, and it waits for
///   another machine.
/// - *A machine leaves while a service is on its way to be ready*: nobody waits for it there any more; it ends when it is
///   seen to have no user, and is idle.
/// - *The last share comes back while another machine is about to join*: the group is free, and goes where it fits best
///   by then.
/// - *The host's word that a machine is lost comes before that of a service's end there*: the worker is gone, and what
///   it said is not believed.
///
/// From one drive to the next
/// --------------------------
///
/// Where a drive that only serves is to end for what has changed (`run --watch`), services that this leaves alone
/// may go on: the process that drives the run hands their workers to the drive that follows.
///
///     up ─► passed on ┊ kept ─► up
///                     ┊  └────► stopping
///
/// - *passed on*: the drive ends without them, once all else has ended. No `finally` task runs then, and the
///   journal gets no `close`: it reads as of a drive that died there, whose services another one took over.
/// - *kept*: the drive that follows has it, and its share; what needs it waits until all that it needs itself is
///   seen to be as it was. Where that runs again, the service is ended first, and starts anew after it.
/// - Its worker knows the plan of the drive that started it, so that it gets nothing else to do.
///
/// When a process dies between any two of these steps
/// -------------------------------------------------
///
/// - *The service's worker*, or the service before `ready` was read: it is lost or has ended, as any task; what
///   was taken for its users comes back with the word of it, not before.
/// - *The service, while a user is on its way to a worker*: the user was journaled as started and gets its stop,
///   or was not and comes back to its queue.
/// - *A user, while its service is told to end*: the end of a service is ordered only when no worker has a
///   user, so there is none.
/// - *The service or its worker, while it is passed on*: nobody reads of it before the next drive does, for which
///   it is an end in use.
/// - *The coordinator, while services are passed on or kept*: the workers see that it is gone, and end them. The
///   journal has no end of theirs, whichever drive it tells of: they were cut short.
/// - *The coordinator, between `start`, `ready` and the end*: a resume ends what is left of it before anything
///   starts (as for all tasks), and takes nothing of a service for a result.
struct Services {
  struct Waiting {
    let task: TaskID
    let lane: Int
    let share: Share
  }

  /// Those of the plan, each behind all that it needs.
  private(set) var all: [TaskID] = []
  /// Those that nothing needs, or that were named: they start like tasks, and stay.
  private(set) var standing: Set<TaskID> = []
  /// Whether ports are found for any.
  private(set) var havePorts = false
  /// Whose share is held, in the order in which it was taken.
  private(set) var waiting: [Waiting] = []
  /// Those that are ready, with the ports that were found for them.
  private(set) var up: [TaskID: [UInt16]] = [:]
  private(set) var stopping: Set<TaskID> = []
  /// By user that was told to end: the service that it lost.
  private var lost: [TaskID: TaskID] = [:]
  /// Standing ones that gave way to tasks, until none is left.
  var deferred: Set<TaskID> = []
  /// Those that were found to be needed last.
  var kept: Set<TaskID> = []
  /// Those that an earlier drive left up, of which it is not known yet whether what they need is as it was.
  private(set) var keptOver: Set<TaskID> = []
  /// Those of which it is.
  private(set) var stayed: Set<TaskID> = []
  /// What runs again of what those need that are ended for it.
  private(set) var outdated: [TaskID: TaskID] = [:]
  /// Those that are to go on when this drive has ended.
  private(set) var passedOn: Set<TaskID> = []
  /// Who asked for the end found nothing but standing services.
  var isLeaving = false
  /// By service: the last looked at of its users; those before it have their end for certain.
  private var ended: [TaskID: Int] = [:]

  init(plan: Plan, named: TaskSet?) { add(servicesOf: plan, from: 0, named: named) }

  /// Takes in those among the tasks of a plan from a number on.
  mutating func add(servicesOf plan: Plan, from first: Int, named: TaskSet?) {
    guard plan.hasServices else { return }
    // Legs that were made give the users of all services other places.
    if plan.hasMadeLegs { countUsersAnew() }
    let new = plan.order(addedFrom: first).lazy.map { TaskID($0) }
      .filter { plan.isService($0) }
    all += new
    if new.contains(where: { !plan.portNames(of: $0).isEmpty }) { havePorts = true }
    for service in new where plan.stays(service, named: named) { standing.insert(service) }
  }

  // MARK: - Taken

  func isWaiting(_ task: TaskID) -> Bool { waiting.contains { $0.task == task } }

  mutating func append(_ entry: Waiting) { waiting.append(entry) }

  mutating func removeWaiting(at place: Int) { waiting.remove(at: place) }

  /// Takes out those that fit.
  mutating func removeWaiting(where fits: (TaskID) -> Bool) -> [Waiting] {
    let removed = waiting.filter { fits($0.task) }
    if !removed.isEmpty { waiting.removeAll { fits($0.task) } }
    return removed
  }

  // MARK: - Up, and down

  func isUp(_ service: TaskID) -> Bool { up[service] != nil }

  /// False where it is known.
  mutating func noteUp(_ service: TaskID, _ ports: [UInt16]) -> Bool {
    if isUp(service) { return false }
    up[service] = ports
    return true
  }

  mutating func noteStopping(_ service: TaskID) { stopping.insert(service) }

  /// It has ended, or its worker is gone.
  mutating func forget(_ service: TaskID) {
    up[service] = nil
    stopping.remove(service)
    stayed.remove(service)
    passedOn.remove(service)
  }

  mutating func noteLoss(of service: TaskID, by user: TaskID) { lost[user] = service }

  /// Whether it was told to end for that.
  func hasLoss(_ user: TaskID) -> Bool { lost[user] != nil }

  mutating func takeLoss(of user: TaskID) -> TaskID? {
    lost.isEmpty ? nil : lost.removeValue(forKey: user)
  }

  // MARK: - From one drive to the next

  mutating func keepOver(_ service: TaskID, _ ports: [UInt16]) {
    up[service] = ports
    keptOver.insert(service)
  }

  /// It is as if this drive had started it.
  mutating func confirm(_ service: TaskID) {
    keptOver.remove(service)
    stayed.insert(service)
  }

  mutating func noteOutdated(_ service: TaskID, by need: TaskID) { outdated[service] = need }

  /// It has ended before that was known.
  ///
  /// - Returns: whether it was one of those, and what it was ended for.
  mutating func leaveKeptOver(_ service: TaskID) -> (wasKept: Bool, need: TaskID?) {
    (keptOver.remove(service) != nil, outdated.removeValue(forKey: service))
  }

  mutating func passOn(_ services: Set<TaskID>) { passedOn = services.filter { isUp($0) } }

  mutating func passNothingOn() { passedOn.removeAll() }

  // MARK: - Users

  /// The first of a service's users that has no end, by the number of its need; nil where all have theirs.
  mutating func firstOpenUser(
    of service: TaskID, _ plan: Plan, hasEnded: (TaskID) -> Bool
  ) -> Int? {
    let last = ended[service]
    for edge in last.map({ plan.dependents(service, from: $0) }) ?? plan.dependents(service) {
      ended[service] = edge
      if !hasEnded(plan.dependent(edge)) { return edge }
    }
    return nil
  }

  /// Tasks were taken out of their end.
  mutating func countUsersAnew() { ended.removeAll() }
}
