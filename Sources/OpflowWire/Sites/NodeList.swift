internal import OpflowBase

/// Parses Slurm's lists of nodes: `n[1-3,07],login`. Numbers keep leading zeros.
package enum NodeList {
  /// Limits the work for a damaged list.
  static let mostNodes = 65_536

  /// In Slurm's order; nil if malformed.
  package static func names(_ text: String) -> [String]? {
    var names: [String] = []
    for part in split(text.utf8) {
      guard let some = expand(part), names.count + some.count <= mostNodes else { return nil }
      names += some.map { String(decoding: $0, as: UTF8.self) }
    }
    return names.isEmpty ? nil : names
  }

  private static func split(_ text: String.UTF8View) -> [Substring.UTF8View] {
    var isInBrackets = false
    return text.split(omittingEmptySubsequences: false) { byte in
      if byte == UInt8(ascii: "[") { isInBrackets = true }
      if byte == UInt8(ascii: "]") { isInBrackets = false }
      return byte == UInt8(ascii: ",") && !isInBrackets
    }
  }

  /// The last brackets vary fastest.
  private static func expand(_ part: Substring.UTF8View) -> [[UInt8]]? {
    guard let open = part.firstIndex(of: UInt8(ascii: "[")) else {
      let isName = !part.isEmpty && part.allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "]") }
      return isName ? [Array(part)] : nil
    }
    guard let close = part[open...].firstIndex(of: UInt8(ascii: "]")) else { return nil }
    let before = Array(part[..<open])
    let rest = part[part.index(after: close)...]
    guard let numbers = numbers(part[part.index(after: open)..<close]),
      let ends = rest.isEmpty ? [[]] : expand(rest), numbers.count <= mostNodes / ends.count
    else { return nil }
    return numbers.flatMap { number in ends.map { before + number + $0 } }
  }

  private static func numbers(_ text: Substring.UTF8View) -> [[UInt8]]? {
    var numbers: [[UInt8]] = []
    for range in text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
      let ends = range.split(
        separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false)
      guard let first = ends.first, let last = ends.last,
        let from = Field.number(first, as: Int.self), from >= 0,
        let to = Field.number(last, as: Int.self), to >= from,
        to - from < mostNodes - numbers.count
      else { return nil }
      for number in from...to {
        let digits = Array(String(number).utf8)
        let zeros = max(0, first.count - digits.count)
        numbers.append([UInt8](repeating: UInt8(ascii: "0"), count: zeros) + digits)
      }
    }
    return numbers.isEmpty ? nil : numbers
  }

  /// `4(x3),2`, one number per node; nil if malformed.
  package static func counts(_ text: String) -> [UInt64]? {
    var counts: [UInt64] = []
    for part in text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
      guard let open = part.firstIndex(of: UInt8(ascii: "(")) else {
        guard let count = Field.number(part, as: UInt64.self) else { return nil }
        counts.append(count)
        continue
      }
      let times = part[open...].dropFirst()
      guard let count = Field.number(part[..<open], as: UInt64.self),
        times.first == UInt8(ascii: "x"), times.last == UInt8(ascii: ")"),
        let number = Field.number(times.dropFirst().dropLast(), as: Int.self), number > 0,
        number <= mostNodes - counts.count
      else { return nil }
      counts += [UInt64](repeating: count, count: number)
    }
    return counts.isEmpty ? nil : counts
  }
}
