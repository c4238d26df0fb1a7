import OpflowBase

/// What befalls a drive, drawn once for each: chances are in thousandths of a step.
struct FaultInjector: Sendable {
  var losesWorker = 0
  /// Workers that are stopped and do nothing any more.
  var freezes = 0
  var suspends = 0
  var cancels = 0
  var kills = 0
  var jumpsClock = 0
  /// Machines that join, or are gone.
  var changesNodes = 0
  /// One machine is to blame for most workers that are lost, so that nothing more starts there.
  var blamesMachine = false
  /// Some of them are silent before they are lost.
  var silencesNodes = false
  /// None is there when the drive begins.
  var joinsLate = false
  /// It is said that no further one comes.
  var exhaustsNodes = 0
  var changesCapacities = 0
  var changesPriorities = 0
  var lies = 0
  /// People who ask for something.
  var requests = 0
  /// Workers of which one in so many never says hello; 0 for none.
  var silentOneIn = 0
  var launchFailsOneIn = 0
  /// Where only services are left, others are to follow on the drive that these go on in.
  var passesOn = false
  /// Programs that come, go and take offers back.
  var troublesPrograms = 0
  /// The step at which the coordinator dies.
  var crashStep = Int.max
  /// Journal bytes of this drive that the disk takes.
  var diskRoom = Int.max
  /// Of syncs one in so many fails; 0 for none.
  var syncFailsOneIn = 0
  /// Messages go through the codec.
  var usesWire = false

  /// Nothing happens, and no task outlasts a timeout that it could have met.
  var isNone = false

  /// Nothing happens for which a worker may be given up.
  var sparesWorkers: Bool {
    freezes == 0 && jumpsClock == 0 && lies == 0 && silentOneIn == 0 && launchFailsOneIn == 0
  }

  static let none = {
    var injector = FaultInjector()
    injector.isNone = true
    return injector
  }()

  /// Makes one machine bad, where there are several.
  mutating func blameMachine() {
    blamesMachine = true
    losesWorker = max(losesWorker, 80)
    changesNodes = max(changesNodes, 15)
  }

  /// Has more befall machines.
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
    // Few come as far as to what only serves.
    if injector.passesOn, random.chance(70) { injector.crashStep = .max }
    return injector
  }
}
