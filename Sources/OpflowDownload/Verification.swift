internal import OpflowBase
package import OpflowPlan

package struct FileFacts: Equatable, Sendable {
  package var sizeBytes: Int64
  /// Lower-case hexadecimal; empty if not computed.
  package var sha256 = ""
  package var sha512 = ""

  package init(sizeBytes: Int64, sha256: String = "", sha512: String = "") {
    self.sizeBytes = sizeBytes
    self.sha256 = sha256
    self.sha512 = sha512
  }
}

extension DownloadSpec {
  /// nil if the facts match.
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

/// What to do about a content encoding that was not requested.
package enum UnaskedEncoding: Equatable, Sendable {
  /// Some servers report compressed archives as encoded.
  case isTheFile
  /// Nested codings. Deflate has no magic number.
  case undo(layers: Int, beginsAsGzip: Bool)
  case unknown

  /// libcurl's limit too; more would be an attack.
  private static let mostLayers = 5

  /// Suffixes of compressed files, and the encodings that servers report for them.
  private static let compressed: [(codings: [String], suffixes: [String])] = [
    (["gzip", "x-gzip", "deflate"], [".gz", ".tgz", ".svgz", ".emz", ".z"]),
    (["compress", "x-compress"], [".z", ".taz"]),
    (["bzip2", "x-bzip2"], [".bz2", ".tbz", ".tbz2"]), (["xz", "x-xz"], [".xz", ".txz"]),
    (["br"], [".br"]), (["zstd"], [".zst", ".tzst"]),
  ]

  /// `encoding` has the codings in the order of application, separated by commas; `url` is the
  /// body's.
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
      // Which of several codings belong to the file is unknown.
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
