internal import OpflowCore

/// Hashes for fingerprints.
enum Digest {
  static func pair(_ first: Text, _ second: Text) -> UInt64 {
    Hash.combine(Hash.xxh3(first), Hash.xxh3(second))
  }

  /// Hashes one entry of `needs`. The caller adds up the hashes of all.
  static func need(_ name: Text, _ condition: NeedCondition) -> UInt64 {
    Hash.combine(Hash.xxh3(name), UInt64(condition.rawValue))
  }

  static func list(_ texts: some Sequence<Text>) -> UInt64 {
    texts.reduce(0) { Hash.combine($0, Hash.xxh3($1)) }
  }
}
