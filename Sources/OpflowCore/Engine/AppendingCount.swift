extension Array {
  /// Appends an element for each of the others.
  mutating func append(addingCountOf others: [some Any], _ element: Element) {
    append(contentsOf: repeatElement(element, count: others.count))
  }
}
