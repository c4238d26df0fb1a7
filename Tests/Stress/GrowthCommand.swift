import FuzzEntries
import OpflowBase

/// `growth COUNT SEED`: compiles manifests with two growing keys in two sizes, and checks that the
/// cost does not grow faster than the manifest.
struct GrowthCommand {
  private let count: Int
  private var random: SplitMix64

  init?(_ words: [String]) {
    guard words.count == 2, let count = Int(words[0]), let seed = UInt64(words[1]) else {
      return nil
    }
    self.count = count
    random = SplitMix64(seed: seed)
  }

  mutating func run() -> Int32 {
    var code: Int32 = 0
    for _ in 0..<count {
      let growths = ManifestGrowth.all.shuffled(using: &random).prefix(2)
      do throws(FuzzFinding) {
        try GrowthCheck.check(Array(growths), count: .random(in: 500...4000, using: &random))
      } catch {
        print("finding: \(error)")
        code = 1
      }
    }
    return code
  }
}
