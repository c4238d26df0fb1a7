/// What a file turned out to be.
package struct FileFacts: Equatable, Sendable {
  package var sizeBytes: Int64
  /// Lower-case hexadecimal; empty where it was not computed.
  package var sha256 = ""
  package var sha512 = ""

  package init(sizeBytes: Int64, sha256: String = "", sha512: String = "") {
    self.sizeBytes = sizeBytes
    self.sha256 = sha256
    self.sha512 = sha512
  }
}

extension DownloadSpec {
  /// What is wrong with a file of these facts; nil when it is what was asked for.
  package func mismatch(_ facts: FileFacts) -> DownloadFailure? {
    if let sizeBytes, facts.sizeBytes != sizeBytes {
      return DownloadFailure(
        .wrongSize, "is \(facts.sizeBytes) bytes long, and should be \(sizeBytes)")
    }
    for (name, wanted, found) in [
      ("SHA-256", sha256, facts.sha256), ("SHA-512", sha512, facts.sha512),
    ] where !wanted.isEmpty && wanted != found {
      return DownloadFailure(.wrongHash, "has the \(name) \(found), and should have \(wanted)")
    }
    return nil
  }
}

/// What to make of a content encoding that nobody asked for.
package enum UnaskedEncoding: Equatable, Sendable {
  /// The bytes are the file: servers are known to call an archive that is compressed by itself
  /// an encoded one.
  case isTheFile
  case undo
  case unknown

  /// - Parameter url: where the body came from.
  package init(_ encoding: String, url: String) {
    switch encoding {
    case "": self = .isTheFile
    case "gzip", "x-gzip", "deflate":
      let name = (try? WebAddress(url))?.lastPathPart ?? ""
      let compressed = [".gz", ".tgz", ".svgz", ".emz", ".z"]
      self = compressed.contains { name.lowercased().hasSuffix($0) } ? .isTheFile : .undo
    default: self = .unknown
    }
  }
}
