import Drill
import Glibc

/// `kill PROGRAM COUNT SEED FOLDER`: kills runs of the program so many times.
struct KillCommand {
  let program: String
  let count: Int
  let seed: UInt64
  let folder: String

  init?(_ arguments: [String]) {
    guard arguments.count == 4, let count = Int(arguments[1]), let seed = UInt64(arguments[2])
    else {
      return nil
    }
    program = arguments[0]
    self.count = count
    self.seed = seed
    folder = arguments[3]
  }

  func run() -> Int32 {
    var kills = 0
    var recoveryKills = 0
    var life = seed
    while kills < count {
      do {
        var drill = try KillDrill(program: program, seed: life, tasks: 200, parent: folder)
        try drill.run(killing: min(count - kills, 40))
        kills += drill.kills
        recoveryKills += drill.recoveryKills
        print("seed \(life): \(drill.kills) kills, \(drill.drives) drives; \(kills) of \(count)")
        fflush(nil)
      } catch {
        print("seed \(life): \(error)")
        print("replay: scripts/soak kill 40 --seed \(life)")
        return 1
      }
      life += 1
    }
    print("\(kills) kills, \(recoveryKills) of them during recovery: nothing found")
    return 0
  }
}
