import Fixtures
import Foundation
import Testing

@testable import OpflowReports

/// A page as a browser takes it apart: markup, scripts that run, and blocks of data.
struct TakenPage {
  let text: String
  /// Contents of the `script` elements, with the attributes of their tags.
  let scripts: [(tag: String, text: String)]

  init(_ run: ReportFixture, isHeld: Bool = false, before: ReportFixture? = nil) throws {
    var report = PageReport(
      try run.status(isHeld: isHeld), before: try before?.status(),
      resumeCommand: "opflow resume r1",
      output: run.output)
    var bytes: [UInt8] = []
    while let piece = report.nextPiece() { bytes += piece }
    text = try #require(String(validating: bytes, as: UTF8.self))
    // A script ends with the first `</script`, whatever stands before it.
    scripts = text.components(separatedBy: "<script").dropFirst().map { part in
      let end = part.range(of: "</script")?.lowerBound ?? part.endIndex
      let start = part.firstIndex(of: ">") ?? part.startIndex
      return (String(part[..<start]), String(part[part.index(after: start)..<end]))
    }
  }

  /// What a reader without scripts sees, of a section.
  func section(_ id: String) -> String {
    guard let start = text.range(of: "<section id=\"\(id)\">") else { return "" }
    let rest = text[start.upperBound...]
    let markup = rest[..<(rest.range(of: "</section>")?.lowerBound ?? rest.endIndex)]
    return Self.words(String(markup))
  }

  var header: String {
    guard let start = text.range(of: "<header>"), let end = text.range(of: "</header>") else {
      return ""
    }
    return Self.words(String(text[start.upperBound..<end.lowerBound]))
  }

  private static func words(_ markup: String) -> String {
    markup.replacing(#/<[^>]*>/#, with: " ").split(whereSeparator: \.isWhitespace)
      .joined(separator: " ")
  }

  var data: [[String: Any]] {
    scripts.filter { $0.tag.contains("application/json") }.compactMap {
      try? JSONSerialization.jsonObject(with: Data($0.text.utf8)) as? [String: Any]
    }
  }

  /// A column, put together from all blocks.
  func column(_ name: String) -> [Int] {
    data.compactMap { $0[name] as? String }.flatMap(Self.numbers)
  }

  var names: [String] { lines("names", "heads", "tails") }

  /// Lines, each put together from what is its own and the one before it.
  func lines(_ key: String, _ headsKey: String, _ tailsKey: String) -> [String] {
    var names: [String] = []
    for block in data {
      guard let own = block[key] as? String, let heads = block[headsKey] as? String,
        let tails = block[tailsKey] as? String
      else { continue }
      let counts = zip(Self.numbers(heads), Self.numbers(tails))
      for (middle, (head, tail)) in zip(own.components(separatedBy: "\n"), counts) {
        let last = names.last ?? ""
        names.append(last.prefix(head) + middle + last.suffix(tail))
      }
    }
    return names
  }

  static func numbers(_ text: String) -> [Int] {
    var numbers: [Int] = []
    var value = 0
    var scale = 1
    for byte in text.utf8 {
      let digit = PageDigits.alphabet.firstIndex(of: byte) ?? 0
      value += (digit & 31) * scale
      scale *= 32
      if digit < 32 {
        numbers.append(value)
        (value, scale) = (0, 1)
      }
    }
    return numbers
  }

  static func signed(_ value: Int) -> Int { value % 2 == 1 ? -(value + 1) / 2 : value / 2 }
}
