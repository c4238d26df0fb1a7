import Foundation
import FuzzEntries
import Testing

/// Checks the corpus: all past findings, and the inputs that the fuzzer starts with.
struct CorpusTests {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Fuzz/Corpus")

  /// Some targets have seeds instead of a folder.
  private static func names(in folder: URL) throws -> [String] {
    guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  @Test(arguments: FuzzTarget.allCases)
  func `the corpus holds`(_ target: FuzzTarget) throws {
    let folder = Self.folder.appendingPathComponent(target.rawValue)
    let names = try Self.names(in: folder)
    let seeds = try target.seeds()
    #expect(names.count + seeds.count >= 3)
    for seed in seeds { #expect(throws: Never.self) { try target.check(seed) } }
    for name in names {
      let bytes = Array(try Data(contentsOf: folder.appendingPathComponent(name)))
      do {
        try target.check(bytes)
      } catch {
        Issue.record(
          "\(error)\nreplay: scripts/stress fuzz --replay \(target.rawValue) \(folder.path)/\(name)"
        )
      }
    }
  }

  /// A fuzzer spends a second on each input; this is fast enough for all test runs.
  @Test(arguments: FuzzTarget.allCases)
  func `one byte of the corpus cut or changed does no harm`(_ target: FuzzTarget) throws {
    let folder = Self.folder.appendingPathComponent(target.rawValue)
    let names = try Self.names(in: folder)
    let step = target == .plan || target == .segment ? 193 : 47
    let corpus = try names.map { name in
      (name, Array(try Data(contentsOf: folder.appendingPathComponent(name))))
    }
    let seeds = try target.seeds().enumerated().map { ("seed \($0.offset)", $0.element) }
    for (number, (name, bytes)) in (corpus + seeds).enumerated() {
      for place in stride(from: number % step, to: bytes.count, by: step) {
        var changed = bytes
        changed[place] &+= UInt8(truncatingIfNeeded: 1 + number % 255)
        for input in [changed, Array(bytes[..<place])] {
          do {
            try target.check(input)
          } catch {
            Issue.record("\(error), from \(name) at \(place)")
          }
        }
      }
    }
  }
}
