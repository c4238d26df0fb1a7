/// What a `download` task asks for (manifest.md, Download).
package struct DownloadSpec: Equatable, Sendable {
  /// The `url`, then the mirrors; at least one.
  package var sources: [String]
  /// Absolute.
  package var target: String
  /// Lower-case hexadecimal; empty where it is not given.
  package var sha256 = ""
  package var sha512 = ""
  package var sizeBytes: Int64?
  package var headers: [DownloadHeader] = []
  /// Permission bits of `target`; nil for those of any new file.
  package var mode: UInt32?
  /// Whether a part that stands may be continued.
  package var resumes = true
  /// 0 for no limit.
  package var maxBytesPerSecond: Int64 = 0

  package init(sources: [String], target: String) {
    self.sources = sources
    self.target = target
  }

  /// Whether a hash decides if the file is right, whatever its bytes came from.
  package var hasHash: Bool { !sha256.isEmpty || !sha512.isEmpty }

  /// What a download appends to `target` for the files that it uses on its way.
  package static let ownSuffixes: [StaticString] = [
    ".part", ".part.meta", ".part.meta.new", ".part.decoded",
  ]

  /// Where data is collected.
  package var partPath: String { target + ".part" }
  /// Where it is noted what the data belongs to.
  package var recordPath: String { partPath + ".meta" }
  /// What becomes the record, or the part without its encoding, when it is whole.
  package var newRecordPath: String { recordPath + ".new" }
  package var decodedPath: String { partPath + ".decoded" }
}

/// A field that the manifest adds to a request.
package struct DownloadHeader: Equatable, Sendable {
  package var name: String
  package var value: String
  /// It holds a secret, and so goes to the host of `url` only, whatever it is called.
  package var isSecret = false

  package init(name: String, value: String) {
    self.name = name
    self.value = value
  }

  /// Fields that tell nothing about who asks, and so may go to any host. All others go to the host
  /// of `url` only: any of them may be a credential.
  private static let harmless = [
    "accept", "accept-language", "cache-control", "pragma", "user-agent",
  ]

  package var isHarmless: Bool { !isSecret && Self.harmless.contains(name.asciiLowercased) }

  /// What stands around the name of a secret whose value is to be filled in: a byte that no text of a
  /// manifest holds.
  private static let mark: Character = "\0"

  /// Puts values in the place of names. One that is not among `secrets` makes it a field that cannot be
  /// sent.
  package mutating func fill(_ secrets: [SecretValue]) {
    let parts = value.split(separator: Self.mark, omittingEmptySubsequences: false)
    if parts.count == 1 { return }
    isSecret = true
    value = parts.enumerated().map { place, part in
      if place % 2 == 0 { return String(part) }
      let secret = secrets.first { $0.name == part }
      return secret.flatMap { String(validating: $0.bytes, as: UTF8.self) } ?? "\0"
    }.joined()
  }

  /// Fields that decide which bytes come, which is the downloader's own business.
  private static let reserved = [
    "range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since",
    "content-length", "transfer-encoding", "connection", "te", "upgrade",
  ]

  /// What is wrong with it, for people; nil when it can be sent.
  package var mistake: String? {
    if name.isEmpty || !name.utf8.allSatisfy(Self.isTokenByte) {
      return "the header '\(name)' has a name that HTTP does not allow"
    }
    if Self.reserved.contains(name.asciiLowercased) {
      return "the header '\(name)' cannot be set: the download decides it"
    }
    if value.utf8.contains(where: { $0 == 13 || $0 == 10 || $0 == 0 }) {
      return "the header '\(name)' holds a line break, or a secret that is no text"
    }
    return nil
  }

  /// RFC 9110, 5.6.2.
  private static func isTokenByte(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
      || "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }
}
