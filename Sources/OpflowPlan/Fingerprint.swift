internal import OpflowBase

/// A hash of what decides a task's result. A resume keeps a success only if it is unchanged.
package struct Fingerprint: Hashable, Sendable, BitwiseCopyable {
  /// XXH3 over all parts.
  package var whole: UInt64
  /// The low eight bits of each part's hash, `Part.run` lowest; for messages only.
  package var parts: UInt64

  package init(whole: UInt64, parts: UInt64) {
    self.whole = whole
    self.parts = parts
  }

  /// A change between `run` and `download` is reported as `run`.
  package enum Part: UInt64, CaseIterable, Sendable {
    case run, env, dir, shell, needs, download
    /// Read from other tasks. Compared separately, not in `parts`.
    case values
  }

  /// As far as eight bits can tell.
  package func changedPart(from old: Fingerprint) -> Part? {
    Part.allCases.first { part in
      (whole != old.whole)
        && (parts >> (part.rawValue * 8)) & 255 != (old.parts >> (part.rawValue * 8)) & 255
    }
  }
}

/// How a fingerprint hashes paths. Plans use `relative`; journals of older versions have
/// `absolute`.
package enum FingerprintStyle: Sendable {
  /// To the manifest's folder if below it, so that a project can be moved.
  case relative
  case absolute
}

/// Lengths precede strings, so different lists never give equal bytes.
package struct FingerprintHasher {
  private var bytes: [UInt8] = []
  private var wholes: [UInt64] = []
  private var parts: UInt64 = 0

  package init() {}

  package mutating func add(_ text: UnsafeRawBufferPointer) {
    add(UInt64(text.count))
    bytes.append(contentsOf: text)
  }

  package mutating func add(_ number: UInt64) {
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  /// A part is everything added since the last one.
  package mutating func end(_ part: Fingerprint.Part) {
    let hash = Hash.xxh3(bytes)
    bytes.removeAll(keepingCapacity: true)
    wholes.append(part.rawValue.littleEndian)
    wholes.append(hash.littleEndian)
    parts |= (hash & 255) << (part.rawValue * 8)
  }

  package mutating func finish() -> Fingerprint {
    defer {
      wholes.removeAll(keepingCapacity: true)
      parts = 0
    }
    return Fingerprint(whole: wholes.withUnsafeBytes { Hash.xxh3($0) }, parts: parts)
  }
}
