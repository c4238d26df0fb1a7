/// A few hundred short tasks whose results prove that each ran after its dependencies: a task
/// writes a checksum over its name and the outputs of its dependencies.
struct DrillManifest {
  private(set) var needs: [[Int]] = []
  private var lasts: [Bool] = []

  init(tasks: Int, _ random: inout DrillNumbers) {
    for index in 0..<tasks {
      let count = index == 0 ? 0 : random.below(min(4, index))
      needs.append(Set((0..<count).map { _ in random.below(index) }).sorted())
      lasts.append(random.below(12) == 0)
    }
  }

  var count: Int { needs.count }

  /// Each start writes a line to `attempts`, in one write. Killed tasks are retried, also if only a
  /// part was killed: there are no pipes, whose status would hide the failure of their first parts.
  var text: String {
    var text = "max_parallel: 4\ndefaults: { retry: { max: 1000, delay: 0 } }\ntasks:\n"
    for (index, list) in needs.enumerated() {
      let names = list.map { "t\($0)" }
      let inputs = names.map { "out/\($0)" }.joined(separator: " ")
      text += "  t\(index):\n    needs: [\(names.joined(separator: ", "))]\n    run: |\n"
      text += "      echo t\(index) >> attempts\n"
      if lasts[index] { text += "      sleep 0.03\n" }
      text += "      echo t\(index) > out/t\(index).all\n"
      if !inputs.isEmpty { text += "      cat \(inputs) >> out/t\(index).all\n" }
      text += "      cksum < out/t\(index).all > out/t\(index).new\n"
      text += "      mv out/t\(index).new out/t\(index)\n"
    }
    return text
  }

  /// Returns the expected output of each task, computed without a run.
  func results() -> [String] {
    var results: [String] = []
    for (index, list) in needs.enumerated() {
      results.append(
        POSIXChecksum.line(Array("t\(index)\n".utf8) + list.flatMap { Array(results[$0].utf8) }))
    }
    return results
  }
}

/// The output of cksum(1) for standard input (POSIX, "cksum").
enum POSIXChecksum {
  static func line(_ bytes: [UInt8]) -> String {
    var crc: UInt32 = 0
    for byte in bytes { add(byte, to: &crc) }
    var length = bytes.count
    while length > 0 {
      add(UInt8(length & 255), to: &crc)
      length >>= 8
    }
    return "\(~crc) \(bytes.count)\n"
  }

  private static func add(_ byte: UInt8, to crc: inout UInt32) {
    crc ^= UInt32(byte) << 24
    for _ in 0..<8 { crc = crc & 0x8000_0000 != 0 ? (crc << 1) ^ 0x04C1_1DB7 : crc << 1 }
  }
}

/// A small generator with the same numbers everywhere (SplitMix64).
package struct DrillNumbers: RandomNumberGenerator, Sendable {
  private var state: UInt64
  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }

  /// Returns a number from 0 up to `limit`, which is above 0.
  package mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
  package mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
}
