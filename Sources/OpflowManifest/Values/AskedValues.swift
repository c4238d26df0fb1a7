package import OpflowCore

/// Parses command-line values with the manifest's syntax.
package enum AskedValues {
  /// Parses a number of a control request, which may be given as a word.
  package static func number(_ text: String, of kind: OrderNumber) -> Int64? {
    with(text) { text in
      if let level = kind.words.first(where: { text == $0.word }) { return Int64(level.value) }
      return CoreSchema.integer(text).flatMap { kind.range.contains($0) ? $0 : nil }
    }
  }

  /// Parses an amount in the resource's unit (`ResourceEntry`): a whole number of `cpu` and
  /// `download`, a size of `memory`, or a size or number with up to three decimals.
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
