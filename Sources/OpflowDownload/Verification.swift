package import OpflowCore

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
  /// So many codings are to be undone, one within the other. Deflate has no beginning of its own.
  case undo(layers: Int, beginsAsGzip: Bool)
  case unknown

  /// Beyond that somebody wants to keep us busy; libcurl bears as many.
  private static let mostLayers = 5

  /// Names of files that are compressed by themselves, and what servers call that.
  private static let compressed: [(codings: [String], suffixes: [String])] = [
    (["gzip", "x-gzip", "deflate"], [".gz", ".tgz", ".svgz", ".emz", ".z"]),
    (["compress", "x-compress"], [".z", ".taz"]),
    (["bzip2", "x-bzip2"], [".bz2", ".tbz", ".tbz2"]), (["xz", "x-xz"], [".xz", ".txz"]),
    (["br"], [".br"]), (["zstd"], [".zst", ".tzst"]),
  ]

  /// - Parameters:
  ///   - encoding: the codings in the order in which they were applied, divided by commas.
  ///   - url: where the body came from.
  package init(_ encoding: String, url: String) {
    let codings = encoding.split { ", ".contains($0) }.map(String.init)
    guard let outermost = codings.last else {
      self = .isTheFile
      return
    }
    let name = ((try? WebAddress(url))?.lastPathPart ?? "").lowercased()
    let isCompressed = Self.compressed.contains { kind in
      codings.contains { kind.codings.contains($0) }
        && kind.suffixes.contains(where: name.hasSuffix)
    }
    if isCompressed {
      // Of several codings nobody knows which ones are the file's own.
      self = codings.count == 1 ? .isTheFile : .unknown
    } else if codings.count <= Self.mostLayers,
      codings.allSatisfy({ ["gzip", "x-gzip", "deflate"].contains($0) })
    {
      self = .undo(layers: codings.count, beginsAsGzip: outermost != "deflate")
    } else {
      self = .unknown
    }
  }
}
