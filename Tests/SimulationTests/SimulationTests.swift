import Simulation
import Testing

/// Simulates whole runs: the real scheduler, codec, recovery and worker decisions with simulated
/// processes, disks and clocks. `scripts/stress simulate` checks a million of them.
@Suite("Simulation")
struct SimulationTests {
  static let slices = 0..<16

  /// Simulates every sixteenth of `count` runs, starting with number `slice`.
  private func live(
    _ slice: Int, of count: Int, _ flags: String = "", _ life: (UInt64) -> SimulatedRun
  ) {
    for seed in stride(from: slice, to: count, by: Self.slices.count) {
      var life = life(UInt64(seed))
      do {
        try life.run()
      } catch {
        Issue.record("\(error)\nreplay: scripts/stress simulate --seed \(seed)\(flags)")
        return
      }
    }
  }

  @Test(arguments: slices)
  func `every promise holds in runs that are disturbed, killed, torn and resumed`(_ slice: Int) {
    live(slice, of: 192) { SimulatedRun(seed: $0, checkingOneIn: 4) }
  }

  @Test(arguments: slices)
  func `every promise holds in runs to which tasks are added while they go on`(_ slice: Int) {
    live(slice, of: 80, " --grows") { SimulatedRun(seed: $0, checkingOneIn: 4, grows: true) }
  }

  @Test(arguments: slices)
  func `every promise holds in runs of which tasks make legs`(_ slice: Int) {
    live(slice, of: 80, " --legs") {
      SimulatedRun(seed: $0, checkingOneIn: 4, grows: true, makesInstances: true)
    }
  }

  @Test(arguments: slices)
  func `every promise holds in runs of which tasks add tasks, and are tried again`(
    _ slice: Int
  ) {
    live(slice, of: 80, " --adders") {
      SimulatedRun(seed: $0, checkingOneIn: 4, grows: true, adds: true)
    }
  }

  @Test(arguments: slices)
  func `every promise holds in runs that go on with the ends of a lost drive`(_ slice: Int) {
    live(slice, of: 80, " --grows --blocks --goes-on") {
      SimulatedRun(seed: $0, checkingOneIn: 4, grows: true, blocks: true, goesOn: true)
    }
  }

  @Test(arguments: slices)
  func `every promise holds in runs with services on further machines`(_ slice: Int) {
    live(slice, of: 96, " --far") { SimulatedRun(seed: $0, checkingOneIn: 4, far: true) }
  }

  @Test(arguments: slices)
  func `every promise holds in runs with services on further machines that grow and go on`(
    _ slice: Int
  ) {
    live(slice, of: 80, " --legs --adders --goes-on --far") {
      SimulatedRun(
        seed: $0, checkingOneIn: 4, grows: true, makesInstances: true, adds: true, goesOn: true,
        far: true)
    }
  }

  @Test(arguments: [91_001_931] as [UInt64])
  func `what was found once in a run is not found again`(_ seed: UInt64) throws {
    var life = SimulatedRun(seed: seed)
    try life.run()
  }

  @Test(arguments: [78_002_960] as [UInt64])
  func `what was found once in a run with blocks is not found again`(_ seed: UInt64) throws {
    var life = SimulatedRun(seed: seed, blocks: true)
    try life.run()
  }

  @Test(arguments: [951_000_465] as [UInt64])
  func `what was found once in a run with far services that goes on is not found again`(
    _ seed: UInt64
  ) throws {
    var life = SimulatedRun(seed: seed, goesOn: true, far: true)
    try life.run()
  }

  @Test(
    arguments: [
      (777_111_987, false), (777_153_810, false), (777_216_264, true), (782_023_471, false),
    ])
  func `what was found once in a run with far services that grows and goes on is not found again`(
    _ seed: UInt64, adds: Bool
  ) throws {
    var life = SimulatedRun(seed: seed, grows: true, adds: adds, goesOn: true, far: true)
    try life.run()
  }

  @Test(
    arguments: [
      779_051_418, 779_081_428, 779_084_760, 970_011_290, 997_006_915, 997_026_837, 997_118_719,
      998_026_948, 999_020_778,
    ] as [UInt64])
  func `what was found once in a run with legs and blocks and far services is not found again`(
    _ seed: UInt64
  ) throws {
    var life = SimulatedRun(seed: seed, grows: true, makesInstances: true, blocks: true, far: true)
    try life.run()
  }

  @Test(arguments: [826_003_985] as [UInt64])
  func `what was found once in a run with legs that add is not found again`(
    _ seed: UInt64
  ) throws {
    var life = SimulatedRun(seed: seed, grows: true, makesInstances: true, adds: true)
    try life.run()
  }

  /// Seeds of growing runs that once revealed a bug.
  @Test(
    arguments: [
      300_001_714, 300_004_380, 300_009_102, 300_010_536, 300_018_801, 300_022_590, 300_031_171,
      300_036_312, 300_036_588, 300_041_007, 300_042_403, 300_043_749, 300_045_567, 300_048_813,
      300_049_287, 300_050_169, 300_051_366, 300_056_043, 300_057_081, 300_058_820, 300_068_175,
      300_069_624, 300_071_118, 300_075_675, 300_078_063, 300_082_534, 300_085_336, 300_087_453,
      300_089_110, 300_090_440, 300_097_001, 300_108_771, 300_113_496, 300_114_447, 300_126_303,
      300_132_063, 300_133_353, 300_137_793, 300_138_820, 300_138_829, 300_142_053, 1_947,
      320_046_834, 500_022_339, 300_099_440, 510_095_449,
    ] as [UInt64])
  func `what was found once in a run that grows is not found again`(_ seed: UInt64) throws {
    var life = SimulatedRun(seed: seed, grows: true)
    try life.run()
  }

  @Test(
    arguments: [
      600_000_445, 600_010_159, 600_040_097, 600_051_913, 610_011_693, 822_037_627,
    ] as [UInt64])
  func `what was found once in a run with legs is not found again`(_ seed: UInt64) throws {
    var life = SimulatedRun(seed: seed, grows: true, makesInstances: true)
    try life.run()
  }

  @Test(arguments: [821_000_374, 821_001_087] as [UInt64])
  func `what was found once in a run with legs that goes on is not found again`(
    _ seed: UInt64
  ) throws {
    var life = SimulatedRun(seed: seed, grows: true, makesInstances: true, goesOn: true)
    try life.run()
  }

  @Test(arguments: [825_007_237, 826_050_159, 830_000_120] as [UInt64])
  func `what was found once in a run of which tasks add and that goes on is not found again`(
    _ seed: UInt64
  ) throws {
    var life = SimulatedRun(seed: seed, grows: true, adds: true, goesOn: true)
    try life.run()
  }

  @Test(
    arguments: [
      823_025_709, 823_033_620, 823_051_999, 871_002_046, 871_003_102,
    ] as [UInt64])
  func `what was found once in a run with legs and blocks that goes on is not found again`(
    _ seed: UInt64
  ) throws {
    var life = SimulatedRun(
      seed: seed, grows: true, makesInstances: true, blocks: true, goesOn: true)
    try life.run()
  }

  @Test(arguments: [826_023_078] as [UInt64])
  func `what was found once in a run with legs that add and that goes on is not found again`(
    _ seed: UInt64
  ) throws {
    var life = SimulatedRun(seed: seed, grows: true, makesInstances: true, adds: true, goesOn: true)
    try life.run()
  }

  @Test(arguments: [700_000_031, 700_000_193, 700_000_210, 700_001_172, 700_002_237] as [UInt64])
  func `what was found once in a run of which tasks add is not found again`(
    _ seed: UInt64
  ) throws {
    var life = SimulatedRun(seed: seed, grows: true, adds: true)
    try life.run()
  }

  /// Seeds that once revealed a bug in the scheduler or in the oracle.
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
      270_110_143, 3_026_292, 5_032_233, 280_445_862, 280_461_496, 280_611_483, 400_002_753,
      410_104_437, 420_015_224, 420_111_999, 440_213_346, 440_658_369, 450_025_755, 450_216_780,
      460_357_809, 460_432_206,
    ] as [UInt64])
  func `what was found once is not found again`(_ seed: UInt64) throws {
    var life = SimulatedRun(seed: seed)
    try life.run()
  }
}
