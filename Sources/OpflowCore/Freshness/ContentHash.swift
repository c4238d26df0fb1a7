/// By which hash contents of files are known again, in all records of a plan.
package enum ContentHash: Sendable {
  /// XXH3 with 128 bits: quick, and right where nobody means harm.
  case quick
  /// The first half of SHA-256: where results come from a cache, nobody is to find two inputs that look the
  /// same.
  case strong

  package func of(_ bytes: some Sequence<UInt8>) -> PlanKey {
    switch self {
    case .quick: Hash.planKey(Array(bytes))
    case .strong: SHA256.digest(of: bytes).high
    }
  }
}

/// The same of bytes that come in pieces.
package enum ContentHasher: ~Copyable {
  case quick(PieceHash)
  case strong(SHA256)

  /// Nil where there is no memory for it.
  package init?(_ hash: ContentHash) {
    switch hash {
    case .quick:
      guard let pieces = PieceHash() else { return nil }
      self = .quick(pieces)
    case .strong: self = .strong(SHA256())
    }
  }

  package func add(_ bytes: UnsafeRawBufferPointer) {
    switch self {
    case .quick(let pieces): pieces.add(bytes)
    case .strong(let hash): hash.add(bytes)
    }
  }

  /// Of all that was added.
  package var content: PlanKey {
    switch self {
    case .quick(let pieces): pieces.planKey
    case .strong(let hash): hash.digest.high
    }
  }
}

extension Plan {
  /// By which hash contents of files are known.
  package var contentHash: ContentHash { hasCaches ? .strong : .quick }
}
