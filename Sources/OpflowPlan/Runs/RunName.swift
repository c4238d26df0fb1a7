/// `--run NAME` accepts it in place of the ID of an open run.
package enum RunName {
  package static let mostBytes = 100

  package static let rule =
    "1 to \(mostBytes) letters, digits, `.`, `_` and `-`, begins with a letter, a digit or `_`,"
    + " does not look like a run's ID"

  package static func isValid(_ text: String) -> Bool {
    guard let first = text.utf8.first, first != UInt8(ascii: "."), first != UInt8(ascii: "-") else {
      return false
    }
    return text.utf8.count <= mostBytes && text.utf8.allSatisfy(OrderID.mayContain)
      && RunID(text) == nil
  }
}
