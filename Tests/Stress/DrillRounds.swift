import Drill
import Glibc

/// `NAME PROGRAM COUNT SEED FOLDER`: drills with successive seeds, until COUNT units are done.
struct DrillRounds {
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

  /// - Parameters:
  ///   - replay: the start of the command line that replays a seed.
  ///   - drill: runs a drill with a seed and the number of units left; returns the number of units
  ///     done and a summary.
  /// - Returns: true without a finding.
  func run(
    replay: String, _ drill: (UInt64, Int) throws -> (done: Int, text: String)
  ) -> Bool {
    var done = 0
    var life = seed
    while done < count {
      do {
        let round = try drill(life, count - done)
        done += round.done
        print("seed \(life): \(round.text); \(done) of \(count)")
        fflush(nil)
      } catch {
        print("seed \(life): \(error)")
        print("replay: scripts/stress \(replay) --seed \(life)")
        return false
      }
      life += 1
    }
    return true
  }
}
