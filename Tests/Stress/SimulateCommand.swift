import Glibc
import OpflowJournal
import Simulation

/// `simulate COUNT [--from SEED]`: simulates COUNT runs with successive seeds, up to the first
/// finding. `simulate --seed SEED`: simulates one run and prints its events.
///
/// - `--grows`: tasks are added to live runs.
/// - `--legs`: some of these are matrix tasks that a task makes.
/// - `--adders`: some of these are added by tasks.
/// - `--blocks`: clients run some tasks.
/// - `--goes-on`: sessions keep the ends of those before.
/// - `--far`: services run on nodes, which have more faults.
struct SimulateCommand {
  private var from: UInt64 = 1
  private var count: UInt64 = 1
  private var isReplay = false
  private var grows = false
  private var makesInstances = false
  private var adds = false
  private var blocks = false
  private var goesOn = false
  private var isFar = false

  init?(_ arguments: [String]) {
    var rest = arguments[...]
    while let word = rest.popFirst() {
      switch word {
      case "--grows": grows = true
      case "--legs": (grows, makesInstances) = (true, true)
      case "--adders": (grows, adds) = (true, true)
      case "--blocks": blocks = true
      case "--goes-on": goesOn = true
      case "--far": isFar = true
      case "--from", "--seed":
        guard let seed = rest.popFirst().flatMap({ UInt64($0) }) else { return nil }
        from = seed
        isReplay = word == "--seed"
      default:
        guard let number = UInt64(word) else { return nil }
        count = number
      }
    }
    if isReplay { count = 1 }
  }

  private var flags: String {
    let all = [
      (grows && !makesInstances && !adds, "grows"), (makesInstances, "legs"), (adds, "adders"),
      (blocks, "blocks"), (goesOn, "goes-on"), (isFar, "far"),
    ]
    return all.filter(\.0).map { " --\($0.1)" }.joined()
  }

  func run() -> Int32 {
    var sessions = 0
    var crashes = 0
    var stays = 0
    var far = FarCounts()
    var farLives = 0
    var additions = 0
    var retractions = 0
    var done = (begun: 0, cutShort: 0, lingered: 0)
    for seed in from..<(from + count) {
      var life = SimulatedRun(
        seed: seed, grows: grows, makesInstances: makesInstances, adds: adds, blocks: blocks,
        goesOn: goesOn,
        far: isFar)
      if isReplay { life.log = { print($0) } }
      do throws(Finding) {
        try life.run()
      } catch {
        print("seed \(seed): \(error)")
        print(
          "replay: scripts/stress simulate --seed \(seed)\(flags)")
        return 1
      }
      sessions += life.sessions
      crashes += life.crashes
      stays += life.stays
      far.add(life.far)
      if life.far.services > 0 { farLives += 1 }
      additions += life.additions
      retractions += life.retractions
      done.begun += life.blocks.begun
      done.cutShort += life.blocks.cutShort
      done.lingered += life.blocks.lingered
      if (seed - from) % 10_000 == 9_999 {
        print("\(seed - from + 1) runs, \(sessions) sessions, \(crashes) crashes")
        fflush(nil)
      }
    }
    print(
      """
      \(count) runs, \(sessions) sessions, \(crashes) crashes, \(stays) services kept running, \
      \(additions) batches were added and \(retractions) retracted, \(done.begun) external \
      tasks started in clients, \(done.cutShort) were cut short, \(done.lingered) lingered; \
      \(farLives) had services on nodes: \(far.services) started there, \(far.moves) of them \
      moved, and \(far.users) dependents started there; nodes were \(Self.words(far)): \
      nothing found
      """
    )
    return 0
  }

  private static func words(_ far: FarCounts) -> String {
    NodeState.allCases.map { "\($0.rawValue) \(far.told[$0] ?? 0) times" }
      .joined(separator: ", ")
  }
}
