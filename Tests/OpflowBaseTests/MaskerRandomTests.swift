import Testing

@testable import OpflowBase

/// Runs a masker.
enum Masking {
  /// - Parameter pieces: how long each is; nil for one.
  static func run(_ secrets: [SecretValue], _ bytes: [UInt8], _ pieces: Int?) throws -> [UInt8] {
    var masker = try #require(Masker(secrets))
    return run(&masker, bytes) { pieces ?? bytes.count }
  }

  static func run(_ masker: inout Masker, _ bytes: [UInt8], _ next: () -> Int) -> [UInt8] {
    var output: [UInt8] = []
    var place = 0
    while place < bytes.count {
      let end = min(bytes.count, place + max(1, next()))
      Array(bytes[place..<end]).withUnsafeBytes {
        masker.mask($0) { output.append(contentsOf: $0) }
      }
      place = end
    }
    masker.finish { output.append(contentsOf: $0) }
    return output
  }
}

/// Thousands of random secrets, in random words, cut at random.
struct MaskerRandomTests {
  private static let alphabets: [[UInt8]] = [
    Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8),
    Array(32...126), Array(" '\"\\/$%+&<>;#".utf8) + Array("aZ9".utf8), Array(1...255),
    Array("ab".utf8),
  ]

  static func value(_ random: inout SplitMix64) -> [UInt8] {
    let length = [8...12, 16...48, 60...140].randomElement(using: &random)!
      .randomElement(using: &random)!
    if Int.random(in: 0..<6, using: &random) == 0 {
      let text = (0..<length / 2).map { _ in "aé漢😀/\"<'".randomElement(using: &random)! }
      let bytes = Array(String(text).utf8)
      return bytes.count >= 8 ? bytes : bytes + Array("12345678".utf8)
    }
    let alphabet = alphabets.randomElement(using: &random)!
    var bytes = (0..<length).map { _ in alphabet.randomElement(using: &random)! }
    // Newlines at the end of a value are not part of a match.
    while let last = bytes.last, last == 10 || last == 13 { bytes[bytes.count - 1] = last + 60 }
    return bytes
  }

  static func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
    guard part.count <= bytes.count else { return false }
    return (0...bytes.count - part.count).contains { bytes[$0...].starts(with: part) }
  }

  @Test(arguments: 0..<20)
  func `no secret gets out in any words, however it is cut`(seed: Int) throws {
    var random = SplitMix64(seed: UInt64(seed))
    let values = (0..<5).map { _ in Self.value(&random) }
    var masker = try #require(Masker(values.map { SecretValue(name: "S", bytes: $0) }))
    let filler = Array("the quick brown fox\n\t<=>".utf8)
    for value in values {
      for form in Encoding.forms(of: value) {
        let around = (0..<2).map { _ in
          (0..<Int.random(in: 0...9, using: &random)).map { _ in
            filler.randomElement(using: &random)!
          }
        }
        let text = around[0] + [124] + form.bytes + [124] + around[1]
        var cuts = random
        let output = Masking.run(&masker, text) { Int.random(in: 1...9, using: &cuts) }
        random = cuts
        #expect(
          !Self.contains(output, form.bytes),
          "\(form.name) of \(value), seed \(seed): \(String(decoding: output, as: UTF8.self))")
        let whole = Masking.run(&masker, text) { text.count }
        #expect(whole == output, "\(form.name) of \(value), seed \(seed): the cuts matter")
        // Nothing but the secret is masked.
        #expect(
          whole == around[0] + [124] + Masker.mark + [124] + around[1]
            || form.name != "plain" || value.contains(124), "\(value)")
      }
    }
  }

  /// Against a search that is as simple as can be, for words that overlap in every way.
  @Test(arguments: 0..<30)
  func `the stream itself is masked as a simple search would`(seed: Int) throws {
    var random = SplitMix64(seed: UInt64(seed) &* 7919)
    let letters = Array("ab".utf8)
    let secrets = (0..<3).map { _ in
      (0..<[4, 5, 9, 40, 70].randomElement(using: &random)!).map { _ in
        letters.randomElement(using: &random)!
      }
    }
    var masker = try #require(Masker(secrets.map { SecretValue(name: "S", bytes: $0) }))
    for _ in 0..<40 {
      var text: [UInt8] = []
      for _ in 0..<6 {
        let secret = secrets.randomElement(using: &random)!
        text += secret.prefix(Int.random(in: 0...secret.count, using: &random))
        if Bool.random(using: &random) { text += secret }
        if Bool.random(using: &random) { text.append(99) }
      }
      var cuts = random
      let output = Masking.run(&masker, text) { Int.random(in: 1...30, using: &cuts) }
      random = cuts
      #expect(output == Self.simple(text, secrets), "seed \(seed)")
    }
  }

  private static func simple(_ text: [UInt8], _ secrets: [[UInt8]]) -> [UInt8] {
    var ranges: [Range<Int>] = []
    for start in text.indices {
      for secret in secrets where text[start...].starts(with: secret) {
        let range = start..<start + secret.count
        if let last = ranges.last, last.upperBound > range.lowerBound {
          ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
        } else {
          ranges.append(range)
        }
      }
    }
    var output: [UInt8] = []
    var place = 0
    for range in ranges {
      output += text[place..<range.lowerBound] + Masker.mark
      place = range.upperBound
    }
    return output + text[place...]
  }

  @Test func `two hundred secrets are masked at once`() throws {
    var random = SplitMix64(seed: 200)
    let values = (0..<200).map { _ in Self.value(&random) }
    var masker = try #require(Masker(values.map { SecretValue(name: "S", bytes: $0) }))
    let text = values.flatMap { value -> [UInt8] in [124] + value + [124, 10] }
    let output = Masking.run(&masker, text) { 1000 }
    for value in values { #expect(!Self.contains(output, value)) }
  }
}
