package import OpflowBase

/// Identifies file contents, for all records of a plan.
package enum ContentHash: Sendable {
  /// 128-bit XXH3: fast, but not safe against attacks.
  case quick
  /// Half of SHA-256: with a cache, collisions must be infeasible.
  case strong

  package func of(_ bytes: some Sequence<UInt8>) -> PlanKey {
    switch self {
    case .quick: Hash.planKey(Array(bytes))
    case .strong: SHA256.digest(of: bytes).high
    }
  }
}

/// The same for bytes in pieces.
package enum ContentHasher: ~Copyable {
  case quick(PieceHash)
  case strong(SHA256)

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

  package var content: PlanKey {
    switch self {
    case .quick(let pieces): pieces.planKey
    case .strong(let hash): hash.digest.high
    }
  }
}

extension Plan {
  package var contentHash: ContentHash { hasCaches ? .strong : .quick }
}
