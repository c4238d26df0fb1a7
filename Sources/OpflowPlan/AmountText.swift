internal import OpflowBase

package enum AmountText {
  package static func text(_ amount: UInt64, of resource: UInt32) -> String {
    resource == ResourceEntry.memory
      ? SizeText.text(bytes: amount) : ResourceEntry.text(amount, of: resource)
  }
}
