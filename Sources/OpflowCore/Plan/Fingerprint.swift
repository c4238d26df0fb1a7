/// What decides a task's result, hashed: action, environment, folder, shell and the ids it needs.
///
/// A success is reused by a resume only when its fingerprint is still the task's own.
package struct Fingerprint: Hashable, Sendable, BitwiseCopyable {
  /// XXH3 over all parts. Alone decides whether two definitions are the same.
  package var whole: UInt64
  /// Eight bits of each part's own hash, `Part.run` lowest. Serves to tell a person which part
  /// changed, never to decide whether one did.
  package var parts: UInt64

  package init(whole: UInt64, parts: UInt64) {
    self.whole = whole
    self.parts = parts
  }

  /// A task has either of `run` and `download`, by what it does. One that has come to do the other is
  /// told as `run`.
  package enum Part: UInt64, CaseIterable, Sendable {
    case run, env, dir, shell, needs, download
    /// What it read of other tasks. Not told by the parts of a fingerprint, but compared by itself.
    case values
  }

  /// The first part in which the two differ, as far as eight bits tell.
  package func changedPart(from old: Fingerprint) -> Part? {
    Part.allCases.first { part in
      (whole != old.whole)
        && (parts >> (part.rawValue * 8)) & 255 != (old.parts >> (part.rawValue * 8)) & 255
    }
  }
}

/// How a fingerprint takes paths. The plan has the first; the second serves to compare it with the
/// journal of an older opflow.
package enum FingerprintStyle: Sendable {
  /// From the manifest's folder, where they lie within it, so that a project can be moved.
  case relative
  case absolute
}

/// Builds a fingerprint part by part. Every text is preceded by its length, so that no two
/// different lists of texts give the same bytes.
package struct FingerprintHasher {
  private var bytes: [UInt8] = []
  /// Number and hash of each part.
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

  /// Closes a part: all that was added since the last one.
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
