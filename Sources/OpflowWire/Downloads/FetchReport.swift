package import OpflowBase

/// The result of a download attempt.
package struct FetchReport: Equatable, Sendable {
  package var resumedBytes: Int64 = 0
  package var sizeBytes: Int64 = 0
  package var gainedBytes: Int64 = 0
  /// The delay that the server requests.
  package var waitMilliseconds: Int64 = 0
  /// Nothing was fetched because the file was already correct.
  package var isKept = false
  /// Lower-case hexadecimal: the manifest's hash, or else SHA-256.
  package var sha256 = ""
  package var sha512 = ""
  /// XXH3 of the manifest's URL; never 0 in an attempt's report.
  package var source: UInt64 = 0
  package var validator = Validator()
  /// After redirects; truncated if very long.
  package var url = ""
  package var detail = ""

  package init() {}

  package var fetchedBytes: Int64 { isKept ? 0 : max(0, sizeBytes - resumedBytes) }
}

/// A report by reference, which keeps the values small that contain it.
package final class FetchRecord: Sendable, Equatable {
  package let report: FetchReport
  package init(_ report: FetchReport) { self.report = report }

  package static func == (one: FetchRecord, other: FetchRecord) -> Bool {
    one.report == other.report
  }
}

extension FetchReport {
  /// A longer validator is omitted: truncated, it would be another one.
  private static let longestETagBytes = 160
  private static let longestBytes = 960
  private static let longestURLBytes = 200

  /// Writes at most 960 bytes: `what` is truncated. Journal lines have `what` already.
  package func write(to writer: inout FieldWriter, withDetail: Bool) {
    let start = writer.bytes.count
    var report = self
    if validator.etag.utf8.count > Self.longestETagBytes { report.validator.etag = "" }
    if validator.lastModified.utf8.count > 40 { report.validator.lastModified = "" }
    report.url = Self.cut(url, to: Self.longestURLBytes)
    report.detail = ""
    FieldPass.write(to: &writer) { report.list(&$0) }
    if withDetail {
      let room = Self.longestBytes - 6 - (writer.bytes.count - start)
      writer.fieldUnlessEmpty(.detail, Self.cut(detail, to: room))
    }
  }

  package mutating func list(_ pass: inout FieldPass) {
    pass.number(.from, &resumedBytes, atLeast: 0)
    pass.number(.size, &sizeBytes, atLeast: 0)
    pass.number(.gained, &gainedBytes, atLeast: 0)
    pass.number(.after, &waitMilliseconds, atLeast: 0)
    pass.flag(.kept, &isKept)
    Self.digest(.sha256, &sha256, digitCount: 64, &pass)
    Self.digest(.sha512, &sha512, digitCount: 128, &pass)
    pass.hash(.source, &source)
    pass.text(.etag, &validator.etag)
    pass.text(.date, &validator.lastModified)
    pass.text(.url, &url)
    pass.text(.detail, &detail)
  }

  private static func digest(
    _ key: Key, _ digest: inout String, digitCount: Int, _ pass: inout FieldPass
  ) {
    pass.text(key, &digest, { isDigest($0, digitCount: digitCount) ? $0 : nil }) {
      $0.isEmpty ? nil : $0
    }
  }

  /// An escape takes two bytes.
  private static func cut(_ text: String, to limit: Int) -> String {
    if 2 * text.utf8.count <= limit { return text }
    var room = limit
    return String(
      text.prefix { character in
        room -= character.utf8.reduce(0) { $0 + (Field.escapeLetter($1) == nil ? 1 : 2) }
        return room >= 0
      })
  }

  private static func isDigest(_ text: String, digitCount: Int) -> Bool {
    text.utf8.count <= digitCount
      && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }

}

extension FetchReport {
  /// A download's identity in journals: the hash of its URL as in the manifest.
  package static func sourceHash(_ url: String) -> UInt64 { Hash.xxh3(Array(url.utf8)) }
}

/// Distinguishes versions of a file (RFC 9110, 8.8).
package struct Validator: Equatable, Sendable {
  /// With quotes, and `W/` if weak.
  package var etag = ""
  package var lastModified = ""
  /// Another version could have the same date.
  package var hasFreshDate = false

  package init(etag: String = "", lastModified: String = "") {
    self.etag = etag
    self.lastModified = lastModified
  }

  private var opaqueTag: Substring { etag.hasPrefix("W/") ? etag.dropFirst(2) : etag[...] }

  private var isStrongETag: Bool { etag.hasPrefix("\"") && etag.count >= 2 }

  /// The value of If-Range, which a weak ETag cannot be (RFC 9110, 13.1.5).
  package var forRange: String? {
    if isStrongETag { return etag }
    return lastModified.isEmpty || hasFreshDate ? nil : lastModified
  }

  package var isEmpty: Bool { etag.isEmpty && lastModified.isEmpty }

  /// For a later run's conditional request. Omits a fresh date, which can hide a change within its
  /// second.
  package var forLater: Validator {
    Validator(etag: etag, lastModified: hasFreshDate ? "" : lastModified)
  }

  package func confirms(_ other: Validator) -> Bool {
    !contradicts(other)
      && ((!etag.isEmpty && !other.etag.isEmpty)
        || (!lastModified.isEmpty && !other.lastModified.isEmpty))
  }

  /// Ignores a value that only one of them has.
  package func contradicts(_ other: Validator) -> Bool {
    if !etag.isEmpty, !other.etag.isEmpty {
      // Some servers mark a fresh file's ETag as weak, and as strong a second later.
      if isStrongETag, other.isStrongETag { return etag != other.etag }
      return opaqueTag != other.opaqueTag
    }
    if !lastModified.isEmpty, !other.lastModified.isEmpty {
      return lastModified != other.lastModified
    }
    return false
  }
}

extension Validator {
  /// Drops values that contain secrets: masked, they would be other validators.
  package func masked(by masker: Masker) -> Validator {
    var validator = self
    if masker.finds(etag) { validator.etag = "" }
    if masker.finds(lastModified) { validator.lastModified = "" }
    return validator
  }
}
