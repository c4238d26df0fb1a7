internal import OpflowCore

/// Values of a manifest that somebody gives on a command line, in the same words.
package enum AskedValues {
  /// A priority, by a word or a number; nil for anything else.
  package static func priority(_ text: String) -> Int16? {
    with(text) { PriorityName.value($0) }
  }

  package static var priorities: String { PriorityName.known.description }

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
