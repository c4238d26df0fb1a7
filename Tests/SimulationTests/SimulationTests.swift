import Simulation
import Testing

/// Whole runs with the real scheduler, codec, recovery and worker's decisions, over imagined
/// processes, disks and clocks. `scripts/soak simulate` goes through a million of them.
@Suite("Simulation")
struct SimulationTests {
  static let slices = 0..<16

  @Test(arguments: slices)
  func `every promise holds in runs that are disturbed, killed, torn and resumed`(_ slice: Int) {
    for seed in stride(from: slice, to: 6000, by: Self.slices.count) {
      var life = Life(seed: UInt64(seed), checkingOneIn: 4)
      do {
        try life.run()
      } catch {
        Issue.record("\(error)\nreplay: scripts/soak simulate --seed \(seed)")
        return
      }
    }
  }

  /// Lives in which something was found once, of the scheduler or of what is expected of it.
  @Test(
    arguments: [
      14_136, 18_530, 90_476, 90_894, 910_941, 921_396, 936_870, 7_000_920, 31_023_555,
      31_032_359, 32_041_074, 50_001_248, 50_006_016, 60_018_690, 60_055_208, 80_006_838,
      80_024_829, 80_070_556, 90_002_855, 100_065_892, 110_009_201, 110_115_999, 110_270_457,
      110_276_314, 140_049_969, 60_002_292, 200_056_999, 200_082_424, 200_104_623, 200_106_012,
      200_192_307, 200_196_108, 200_223_408, 210_078_285, 210_189_928, 210_219_666, 210_478_680,
      210_557_192, 210_598_023, 210_743_187, 210_887_918, 210_903_101, 220_173_999, 220_259_106,
      220_700_607, 220_767_770, 220_794_485, 220_921_041, 230_178_855, 230_326_114,
      230_404_239, 250_015_137, 250_088_999, 260_038_687, 260_161_152, 260_214_230, 260_247_172,
      270_110_143, 3_026_292, 5_032_233, 280_445_862, 280_461_496,
    ] as [UInt64])
  func `what was found once is not found again`(_ seed: UInt64) throws {
    var life = Life(seed: seed)
    try life.run()
  }
}
