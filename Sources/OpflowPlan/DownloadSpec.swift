package import OpflowBase

package struct DownloadSpec: Equatable, Sendable {
  /// The `url` and its mirrors; at least one.
  package var sources: [String]
  package var target: String
  /// Lower-case hexadecimal, or empty.
  package var sha256 = ""
  package var sha512 = ""
  package var sizeBytes: Int64?
  package var headers: [DownloadHeader] = []
  /// Permission bits; nil for the default.
  package var mode: UInt32?
  package var resumes = true
  /// 0 for no limit.
  package var maxBytesPerSecond: Int64 = 0

  package init(sources: [String], target: String) {
    self.sources = sources
    self.target = target
  }

  package var hasHash: Bool { !sha256.isEmpty || !sha512.isEmpty }

  package static let ownSuffixes: [StaticString] = [
    ".part", ".part.meta", ".part.meta.new", ".part.decoded",
  ]

  package var partPath: String { target + ".part" }
  /// Identifies the download of the partial file.
  package var recordPath: String { partPath + ".meta" }
  package var newRecordPath: String { recordPath + ".new" }
  package var decodedPath: String { partPath + ".decoded" }
}

package struct DownloadHeader: Equatable, Sendable {
  package var name: String
  package var value: String
  package var isSecret = false

  package init(name: String, value: String) {
    self.name = name
    self.value = value
  }

  /// All other headers may be credentials and go only to the host of `url`.
  private static let harmless = [
    "accept", "accept-language", "cache-control", "pragma", "user-agent",
  ]

  package var isHarmless: Bool { !isSecret && Self.harmless.contains(name.asciiLowercased) }

  /// Encloses the name of a secret. A manifest cannot contain this byte.
  private static let mark: Character = "\0"

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

  /// The download itself sets these.
  private static let reserved = [
    "range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since",
    "content-length", "transfer-encoding", "connection", "te", "upgrade",
  ]

  package var problem: String? {
    if name.isEmpty || !name.utf8.allSatisfy(Self.isTokenByte) {
      return "`\(name)` is not a valid header name"
    }
    if Self.reserved.contains(name.asciiLowercased) {
      return "the header `\(name)` cannot be set; the download sets it"
    }
    if value.utf8.contains(where: { $0 == 13 || $0 == 10 || $0 == 0 }) {
      return "the header `\(name)` contains a newline, a NUL or a secret that is not UTF-8"
    }
    return nil
  }

  /// RFC 9110, 5.6.2.
  private static func isTokenByte(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
      || "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }
}

package struct DownloadEntry: Hashable, Sendable, BitwiseCopyable {
  /// Absolute.
  package var target: TextRef
  package var sha256: TextRef = .empty
  package var sha512: TextRef = .empty
  /// Never the empty list.
  package var sources: ListIndex
  /// A list of variables.
  package var headers: UInt32 = 0
  package var sizeBytes: UInt64 = DownloadEntry.none
  package var maxBytesPerSecond: UInt64 = 0
  /// Permission bits; `UInt32.max` if not set.
  package var mode: UInt32 = .max
  package var resumes: UInt32 = 1

  package static let none = UInt64.max

  package init(target: TextRef, sources: ListIndex) {
    self.target = target
    self.sources = sources
  }
}

extension Plan {
  package func download(_ task: TaskID) -> DownloadSpec {
    let entry = downloads[Int(record[task.index].download)]
    var spec = DownloadSpec(
      sources: list(entry.sources).map { string($0) }, target: string(entry.target))
    spec.sha256 = string(entry.sha256)
    spec.sha512 = string(entry.sha512)
    if entry.sizeBytes != DownloadEntry.none { spec.sizeBytes = Int64(clamping: entry.sizeBytes) }
    spec.headers = variables(entry.headers).map {
      DownloadHeader(name: string($0.name), value: string($0.value))
    }
    if entry.mode != .max { spec.mode = entry.mode }
    spec.resumes = entry.resumes != 0
    spec.maxBytesPerSecond = Int64(clamping: entry.maxBytesPerSecond)
    return spec
  }

  package func downloadTarget(_ task: TaskID) -> UnsafeRawBufferPointer {
    text(downloads[Int(record[task.index].download)].target)
  }
}
