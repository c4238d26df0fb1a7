/// What a try of a download did: what a worker reports before its end, and what the journal keeps of
/// it.
package struct FetchReport: Equatable, Sendable {
  /// Bytes that were in the part when the try began and were not fetched again.
  package var resumedBytes: Int64 = 0
  /// Of the file, once it is in place.
  package var sizeBytes: Int64 = 0
  /// Bytes that the part has more than when the try began.
  package var gainedBytes: Int64 = 0
  /// How long the server wants to be left alone; 0 where it does not say.
  package var waitMilliseconds: Int64 = 0
  /// Nothing was fetched: what stood at `to` is right.
  package var isKept = false
  /// Of the file, in lower-case hexadecimal: the one that the manifest gives, or else SHA-256.
  package var sha256 = ""
  package var sha512 = ""
  /// Hash (XXH3) of the URL as the manifest has it; never 0 in a report of a try.
  package var source: UInt64 = 0
  package var validator = Validator()
  /// Where redirects led; cut where it is very long.
  package var url = ""
  /// Of a failure: what happened.
  package var what = ""

  package init() {}

  /// What came over the network for the file that is in place.
  var fetchedBytes: Int64 { isKept ? 0 : max(0, sizeBytes - resumedBytes) }
}

/// A report that is passed on: small, whatever it holds.
package final class FetchRecord: Sendable, Equatable {
  package let report: FetchReport
  package init(_ report: FetchReport) { self.report = report }

  package static func == (one: FetchRecord, other: FetchRecord) -> Bool {
    one.report == other.report
  }
}

extension FetchReport {
  /// A validator that is longer is not kept: a cut one would be another one.
  private static let longestETagBytes = 160
  private static let longestBytes = 960
  private static let longestURLBytes = 200

  /// Adds the fields of the wire and the journal, each with a tab before it. What is 0 or empty is
  /// left out. At most 960 bytes: `what` gets the room that is left. A journal's line has `what` already.
  package func write(to writer: inout FieldWriter, withWhat: Bool) {
    let start = writer.bytes.count
    writer.fieldUnlessZero(.from, resumedBytes)
    writer.fieldUnlessZero(.size, sizeBytes)
    writer.fieldUnlessZero(.gained, gainedBytes)
    writer.fieldUnlessZero(.after, waitMilliseconds)
    if isKept { writer.field(.kept, 1) }
    writer.fieldUnlessEmpty(.sha256, sha256)
    writer.fieldUnlessEmpty(.sha512, sha512)
    if source != 0 { writer.field(.source, Hexadecimal.text(source)) }
    if validator.etag.utf8.count <= Self.longestETagBytes {
      writer.fieldUnlessEmpty(.etag, validator.etag)
    }
    if validator.lastModified.utf8.count <= 40 {
      writer.fieldUnlessEmpty(.date, validator.lastModified)
    }
    writer.fieldUnlessEmpty(.url, Self.cut(url, to: Self.longestURLBytes))
    if withWhat {
      let room = Self.longestBytes - 6 - (writer.bytes.count - start)
      writer.fieldUnlessEmpty(.what, Self.cut(what, to: room))
    }
  }

  /// As many whole characters as fit, escapes counted.
  private static func cut(_ text: String, to limit: Int) -> String {
    if 2 * text.utf8.count <= limit { return text }
    var room = limit
    return String(
      text.prefix { character in
        room -= character.utf8.reduce(0) { $0 + (Field.escapeLetter($1) == nil ? 1 : 2) }
        return room >= 0
      })
  }

  /// A digest has no more digits, or a line with it might be longer than the other side takes.
  private static func isDigest(_ text: String, digitCount: Int) -> Bool {
    text.utf8.count <= digitCount
      && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }

  /// Takes a field in; false for one that is none of a report's, or makes no sense.
  mutating func take(_ key: Key, _ value: UnsafeRawBufferPointer) -> Bool {
    func natural() -> Int64? {
      guard let number: Int64 = Field.number(value), number >= 0 else { return nil }
      return number
    }
    guard let text = Field.text(value) else { return false }
    switch key {
    case .from: return natural().map { resumedBytes = $0 } != nil
    case .size: return natural().map { sizeBytes = $0 } != nil
    case .gained: return natural().map { gainedBytes = $0 } != nil
    case .after: return natural().map { waitMilliseconds = $0 } != nil
    case .kept: isKept = text == "1"
    case .sha256:
      guard Self.isDigest(text, digitCount: 64) else { return false }
      sha256 = text
    case .sha512:
      guard Self.isDigest(text, digitCount: 128) else { return false }
      sha512 = text
    case .source: return Hexadecimal.value(value).map { source = $0 } != nil
    case .etag: validator.etag = text
    case .date: validator.lastModified = text
    case .url: url = text
    case .what: what = text
    // Keys of other things.
    default: return false
    }
    return true
  }
}
