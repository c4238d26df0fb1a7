package import OpflowBase
package import OpflowWire

// The record of a part (`to.part.meta`)
// =====================================
//
// One line in the journal's alphabet: the CRC-32C of everything after its tab, as eight hexadecimal
// digits, then `part`, the format's version, and KEY=VALUE fields, ended by a line feed. It is
// replaced by a rename, so a reader sees the old or the new line; a damaged one is ignored.
//
//   source    the URL as in the manifest, without name and password
//   url       the URL after redirects
//   etag      the strongest validator that came with the data
//   date      Last-Modified
//   fresh     1 if two versions may share that date
//   length    of the whole file, in bytes, if known
//   encoding  the content encoding, if any
//   refusals  consecutive failures of the server when asked for the rest
//   boot      the machine's boot ID: after a machine crash, written bytes may be missing although
//             the part's length is right

/// The origin of the bytes in `to.part`.
package struct PartRecord: Equatable, Sendable {
  package var source = ""
  package var url = ""
  package var validator = Validator()
  package var totalBytes: Int64?
  package var encoding = ""
  package var refusals = 0
  package var bootID = ""

  package init() {}

  private static let version = 1
  /// Longer records are ignored.
  package static let longestBytes = 65_536

  package func encoded() -> [UInt8] {
    var writer = FieldWriter()
    writer.raw("00000000\tpart\t")
    writer.number(Self.version)
    writer.pair("source", source)
    writer.pair("url", url)
    writer.pair("etag", validator.etag)
    writer.pair("date", validator.lastModified)
    writer.pair("fresh", validator.hasFreshDate ? "1" : "")
    if let totalBytes {
      writer.raw("\tlength=")
      writer.number(totalBytes)
    }
    writer.pair("encoding", encoding)
    if refusals > 0 {
      writer.raw("\trefusals=")
      writer.number(refusals)
    }
    writer.pair("boot", bootID)
    let checksum = writer.bytes.withUnsafeBytes { Hash.crc32c($0.part(9, $0.count)) }
    var digits: [UInt8] = []
    Hexadecimal.append(UInt64(checksum), digitCount: 8, to: &digits)
    writer.overwrite(at: 0, with: digits)
    writer.endLine()
    return writer.bytes
  }

  package func masked(by masker: Masker) -> PartRecord {
    var record = self
    record.url = masker.masked(url)
    record.encoding = masker.masked(encoding)
    record.validator = validator.masked(by: masker)
    return record
  }

  /// Returns nil unless the bytes are a complete record of this version.
  package init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count > 9, bytes.count <= Self.longestBytes, bytes[8] == Field.tab,
      bytes[bytes.count - 1] == Field.lineFeed, let checksum = Hexadecimal.value(bytes.part(0, 8)),
      UInt64(Hash.crc32c(bytes.part(9, bytes.count - 1))) == checksum
    else { return nil }
    let fields = bytes.part(9, bytes.count - 1).split(
      separator: Field.tab, omittingEmptySubsequences: false)
    guard fields.count >= 2, fields[0].elementsEqual("part".utf8),
      Field.number(fields[1], as: Int.self) == Self.version
    else { return nil }
    for field in fields.dropFirst(2) {
      guard let equals = field.firstIndex(of: UInt8(ascii: "=")),
        let value = Field.text(field[(equals + 1)...])
      else { return nil }
      switch String(decoding: field[..<equals], as: UTF8.self) {
      case "source": source = value
      case "url": url = value
      case "etag": validator.etag = value
      case "date": validator.lastModified = value
      case "fresh": validator.hasFreshDate = true
      case "length":
        guard let length: Int64 = Field.number(value.utf8), length >= 0 else { return nil }
        totalBytes = length
      case "encoding": encoding = value
      case "refusals":
        guard let count: Int = Field.number(value.utf8), (0...1 << 30).contains(count) else {
          return nil
        }
        refusals = count
      case "boot": bootID = value
      default: break
      }
    }
  }
}

package struct PartOnDisk: Equatable, Sendable {
  package var bytes: Int64
  package var record: PartRecord?

  package init(bytes: Int64 = 0, record: PartRecord? = nil) {
    self.bytes = bytes
    self.record = record
  }
}
