internal import OpflowCore

/// Hashes of lists and pairs of texts, for fingerprints.
enum Digest {
  static func pair(_ first: Text, _ second: Text) -> UInt64 {
    combine(Hash.xxh3(first), Hash.xxh3(second))
  }

  static func combine(_ first: UInt64, _ second: UInt64) -> UInt64 {
    withUnsafeBytes(of: (first.littleEndian, second.littleEndian)) { Hash.xxh3($0) }
  }

  /// Of a task that is needed. Those of several are added up.
  static func need(_ name: Text, _ condition: NeedCondition) -> UInt64 {
    combine(Hash.xxh3(name), UInt64(condition.rawValue))
  }

  /// Of texts in order.
  static func list(_ texts: some Sequence<Text>) -> UInt64 {
    texts.reduce(0) { combine($0, Hash.xxh3($1)) }
  }
}
