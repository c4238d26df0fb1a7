import Drill
import Glibc

/// `build PROGRAM INJECTOR COUNT SEED FOLDER`: builds of 200 C files with 20 disturbed sessions
/// each, until COUNT sessions were disturbed.
struct BuildCommand {
  private let program: String
  private let injector: String
  private let count: Int
  private let seed: UInt64
  private let folder: String

  init?(_ arguments: [String]) {
    guard arguments.count == 5, let count = Int(arguments[2]), let seed = UInt64(arguments[3])
    else { return nil }
    (program, injector, folder) = (arguments[0], arguments[1], arguments[4])
    self.count = count
    self.seed = seed
  }

  func run() -> Int32 {
    var disturbed = 0
    var life = seed
    while disturbed < count {
      do {
        var drill = try BuildDrill(
          program: program, injector: injector, seed: life, files: 200, parent: folder)
        try drill.run(disturbing: min(count - disturbed, 20))
        disturbed += max(drill.sessions - 1, 1)
        print(
          "seed \(life): \(drill.kills) kills and \(drill.faults) faults in "
            + "\(drill.sessions) sessions"
        )
        fflush(nil)
      } catch {
        print("seed \(life): \(error)")
        print("replay: scripts/stress build 20 --seed \(life)")
        return 1
      }
      life += 1
    }
    print("\(disturbed) disturbed sessions: nothing found")
    return 0
  }
}
