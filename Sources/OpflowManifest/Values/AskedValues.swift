package import OpflowCore

/// Values of a manifest that somebody gives on a command line, in the same words.
package enum AskedValues {
  /// A number that an order carries, or a word for it; nil for anything else.
  package static func number(_ text: String, of kind: OrderNumber) -> Int64? {
    with(text) { text in
      if let level = kind.words.first(where: { text == $0.word }) { return Int64(level.value) }
      return CoreSchema.integer(text).flatMap { kind.range.contains($0) ? $0 : nil }
    }
  }

  /// An amount of a resource, by its number, in what it is counted in (`ResourceEntry`); nil for anything
  /// else: a whole number of `cpu` and `download`, a size of `memory`, a size or a number with up to three
  /// decimals of the manifest's own.
  package static func amount(_ text: String, ofResource resource: UInt32) -> UInt64? {
    with(text) { text in
      switch resource {
      case ResourceEntry.memory: return SizeText.bytes(text)
      case ResourceEntry.cpu, ResourceEntry.download:
        guard let number = CoreSchema.integer(text), (0...1_000_000).contains(number) else {
          return nil
        }
        return UInt64(number)
      default:
        guard case .amount(let amount) = AmountText.thousandths(text) else { return nil }
        return amount
      }
    }
  }

  private static func with<Result>(_ text: String, _ body: (Text) -> Result) -> Result {
    Array(text.utf8).withUnsafeBytes(body)
  }
}
