import OpflowBase

/// A reader of untrusted bytes, with the properties that must hold for any bytes.
///
/// The fuzzer (`scripts/stress fuzz`), the replay of a finding and the tests of the corpus share
/// it.
package enum FuzzTarget: String, CaseIterable, Sendable {
  case manifest, journal, message, request, plan, segment, part, response, mask

  /// Longer inputs reveal nothing new.
  package var longestBytes: Int {
    switch self {
    case .message, .request, .part, .response, .mask: 2048
    case .manifest, .journal: 4096
    case .plan, .segment: 8192
    }
  }

  /// - Throws: the violated property. A trap or an endless loop is a finding, too.
  package func check(_ bytes: UnsafeRawBufferPointer) throws(FuzzFinding) {
    switch self {
    case .manifest: try FuzzManifest.check(bytes)
    case .journal: try FuzzJournal.check(bytes)
    case .message: try FuzzMessage.check(bytes)
    case .request: try FuzzRequest.check(bytes)
    case .plan: try FuzzPlan.check(bytes)
    case .segment: try FuzzSegment.check(bytes)
    case .part: try FuzzPart.check(bytes)
    case .response: try FuzzResponse.check(bytes)
    case .mask: try FuzzMask.check(bytes)
    }
  }

  /// Returns the inputs that the fuzzer starts with, in addition to the corpus.
  package func seeds() throws(FuzzFinding) -> [[UInt8]] {
    switch self {
    case .plan: try PlanSeed.make()
    case .segment: try FuzzSegment.seeds()
    case .manifest, .journal, .message, .request, .part, .response, .mask: []
    }
  }

  package func check(_ bytes: [UInt8]) throws(FuzzFinding) {
    let finding = bytes.withUnsafeBytes { bytes -> FuzzFinding? in
      do throws(FuzzFinding) {
        try check(bytes)
        return nil
      } catch {
        return error
      }
    }
    if let finding { throw finding }
  }
}

/// A violated property.
package struct FuzzFinding: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}

/// Throws a finding if the condition is false.
func expect(
  _ condition: Bool, _ words: @autoclosure () -> String
) throws(FuzzFinding) {
  if !condition { throw FuzzFinding(words()) }
}

/// Inserts checksums into lines that begin with eight zeros and a tab, so that mutations get past
/// the check. Other lines stay unchanged.
enum Seal {
  static func lines(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var sealed = Array(bytes)
    var start = 0
    while start < sealed.count {
      let end = sealed[start...].firstIndex(of: Field.lineFeed) ?? sealed.count
      line(start..<end, of: &sealed)
      start = end + 1
    }
    return sealed
  }

  private static func line(_ range: Range<Int>, of bytes: inout [UInt8]) {
    guard range.count > 9, bytes[range.lowerBound + 8] == Field.tab,
      bytes[range.prefix(8)].allSatisfy({ $0 == UInt8(ascii: "0") })
    else { return }
    var end = range.upperBound
    if bytes[end - 1] == Field.carriageReturn, end > range.lowerBound + 10 { end -= 1 }
    let body = Array(bytes[(range.lowerBound + 9)..<end])
    var digits: [UInt8] = []
    Hexadecimal.append(
      UInt64(body.withUnsafeBytes { Hash.crc32c($0) }), digitCount: 8, to: &digits)
    bytes.replaceSubrange(range.prefix(8), with: digits)
  }
}
