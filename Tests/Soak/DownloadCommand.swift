import Drill
import Glibc

/// `download PROGRAM COUNT SEED FOLDER`: kills downloads of 200 MB so many times.
struct DownloadCommand {
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
    var strikes = 0
    var repeated = 0
    var life = seed
    while strikes < count {
      do {
        var drill = try DownloadDrill(
          program: program, seed: life, megabytes: 200, megabytesPerSecond: 20 + Int(life % 3) * 40,
          parent: folder)
        try drill.run(striking: min(count - strikes, 8))
        strikes += drill.strikes
        repeated += drill.repeatedBytes
        print(
          "seed \(life): \(drill.strikes) strikes, \(drill.repeatedBytes) bytes sent twice; "
            + "\(strikes) of \(count)")
        fflush(nil)
      } catch {
        print("seed \(life): \(error)")
        print("replay: scripts/soak download 8 --seed \(life)")
        return 1
      }
      life += 1
    }
    print(
      "\(strikes) strikes, \(repeated / max(strikes, 1)) bytes sent twice for each: nothing found")
    return 0
  }
}
