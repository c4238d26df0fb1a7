import OpflowBase

/// The faults of a session, chosen once at its start: chances in thousandths per step.
struct FaultInjector: Sendable {
  var losesWorker = 0
  /// Frozen workers, which do nothing.
  var freezes = 0
  var suspends = 0
  var cancels = 0
  var kills = 0
  var jumpsClock = 0
  /// Nodes that join or are lost.
  var changesNodes = 0
  /// One machine causes most worker losses, so that it is quarantined.
  var blamesMachine = false
  /// Some nodes are silent before they are lost.
  var silencesNodes = false
  /// No node has joined when the session begins.
  var joinsLate = false
  /// No further node will join.
  var exhaustsNodes = 0
  var changesCapacities = 0
  var changesPriorities = 0
  var lies = 0
  /// Requests from users.
  var requests = 0
  /// One in this many workers never says hello; 0 for none.
  var silentOneIn = 0
  var launchFailsOneIn = 0
  /// When only services are left, they stay up for the next session.
  var passesOn = false
  /// Clients that connect, disconnect and retract offers.
  var troublesPrograms = 0
  /// The step at which the coordinator dies.
  var crashStep = Int.max
  /// The journal bytes of this session that fit on the disk.
  var diskRoom = Int.max
  /// One in this many syncs fails; 0 for none.
  var syncFailsOneIn = 0
  /// Messages pass through the codec.
  var usesWire = false

  /// No fault happens, and no task exceeds an avoidable timeout.
  var isNone = false

  /// No fault can make the engine discard a worker.
  var sparesWorkers: Bool {
    freezes == 0 && jumpsClock == 0 && lies == 0 && silentOneIn == 0 && launchFailsOneIn == 0
  }

  static let none = {
    var injector = FaultInjector()
    injector.isNone = true
    return injector
  }()

  /// Makes one machine bad, if there are several.
  mutating func blameMachine() {
    blamesMachine = true
    losesWorker = max(losesWorker, 80)
    changesNodes = max(changesNodes, 15)
  }

  /// Adds node faults.
  mutating func troubleMachines(_ random: inout SplitMix64) {
    joinsLate = random.chance(20)
    if isNone { return }
    silencesNodes = random.chance(70)
    if random.chance(60) { changesNodes = max(changesNodes, 5 + random.below(40)) }
    if random.chance(25) { blameMachine() }
    if crashStep < .max, random.chance(30) { crashStep = .max }
  }

  static func random(taskCount: Int, _ random: inout SplitMix64) -> FaultInjector {
    var injector = FaultInjector()
    if random.chance(40) { injector.losesWorker = 1 + random.below(40) }
    if random.chance(20) { injector.freezes = 1 + random.below(20) }
    if random.chance(30) { injector.suspends = 1 + random.below(30) }
    if random.chance(30) { injector.cancels = 1 + random.below(10) }
    if random.chance(20) { injector.kills = 1 + random.below(8) }
    if random.chance(20) { injector.jumpsClock = 1 + random.below(20) }
    if random.chance(40) { injector.changesNodes = 1 + random.below(30) }
    if random.chance(15) { injector.exhaustsNodes = 1 + random.below(10) }
    if random.chance(15) { injector.changesCapacities = 1 + random.below(40) }
    if random.chance(15) { injector.changesPriorities = 1 + random.below(40) }
    if random.chance(30) { injector.requests = 1 + random.below(80) }
    if random.chance(10) { injector.lies = 1 + random.below(20) }
    if random.chance(15) { injector.silentOneIn = 1 + random.below(6) }
    if random.chance(15) { injector.launchFailsOneIn = 1 + random.below(6) }
    if random.chance(60) { injector.crashStep = random.below(10 + 10 * taskCount) }
    if random.chance(10) { injector.diskRoom = 200 + random.below(4000) }
    if random.chance(5) { injector.syncFailsOneIn = 1 + random.below(20) }
    injector.usesWire = random.chance(15)
    injector.passesOn = random.chance(60)
    // Most sessions would crash before the serving phase.
    if injector.passesOn, random.chance(70) { injector.crashStep = .max }
    return injector
  }
}
