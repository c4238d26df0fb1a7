import Foundation
import OpflowReports
import Testing

/// `gzip` reads the compressed bytes.
@Suite struct GzipTests {
  private func compressed(_ pieces: [[UInt8]]) -> [UInt8] {
    var writer = GzipWriter()
    return pieces.flatMap { writer.compress($0) } + writer.finish()
  }

  /// As `gzip` has it, which also compares the checksum and the length.
  private func read(_ bytes: [UInt8]) throws -> [UInt8] {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("opflow-gzip-\(UUID().uuidString)")
    try Data(bytes).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "exec gzip -dc <\"$0\"", file.path]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return [UInt8](text)
  }

  private func expectSame(_ pieces: [[UInt8]]) throws {
    let bytes = pieces.flatMap { $0 }
    let same = try read(compressed(pieces)) == bytes
    #expect(same, "\(pieces.count) pieces of \(bytes.count) bytes")
  }

  @Test func `nothing, one byte and every byte come back`() throws {
    try expectSame([])
    try expectSame([[]])
    try expectSame([[7]])
    try expectSame([Array(0...255), Array((0...255).reversed())])
  }

  @Test func `repetitions of every length and at every distance come back`() throws {
    var random = SystemRandomNumberGenerator()
    for length in [2, 3, 4, 10, 11, 18, 19, 257, 258, 259, 1000] {
      try expectSame([[UInt8](repeating: 65, count: length)])
    }
    // Up to what a reader remembers, and beyond.
    for distance in [1, 2, 3, 4, 5, 100, 4096, 32_767, 32_768, 32_769, 70_000] {
      let word = (0..<300).map { _ in UInt8.random(in: 0...255, using: &random) }
      let between = (0..<max(0, distance - word.count)).map {
        UInt8(truncatingIfNeeded: $0 * $0 >> 3)
      }
      try expectSame([word + between + word, between, word])
    }
  }

  @Test func `pieces of any size come back, and go on where the one before ended`() throws {
    var random = SystemRandomNumberGenerator()
    var pieces: [[UInt8]] = []
    for _ in 0..<60 {
      let count = Int.random(in: 0...9000, using: &random)
      let letters = UInt8.random(in: 1...255, using: &random)
      pieces.append((0..<count).map { _ in UInt8.random(in: 0...letters, using: &random) })
      if let old = pieces.randomElement(using: &random) { pieces.append(old) }
    }
    try expectSame(pieces)
  }

  @Test func `what repeats itself becomes small`() {
    let line = Array("{\"ph\":\"X\",\"name\":\"build\",\"ts\":1234567,\"dur\":89},\n".utf8)
    let bytes = (0..<2000).flatMap { number in line + Array("\(number)".utf8) }
    #expect(compressed([bytes]).count < bytes.count / 6)
  }
}
