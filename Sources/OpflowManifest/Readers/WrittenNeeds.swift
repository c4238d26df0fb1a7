/// A task's needs by the IDs that expressions use: each need's ID, and the matrix's ID for matrix
/// tasks.
struct WrittenNeeds {
  /// The needs as written, in the task's order.
  let texts: [Text]
  private var ids = NameIndex()
  /// For each ID, the needs that it names.
  private var needs: [[Int32]] = []

  /// - Parameter needs: Only `written` is used.
  init(_ needs: [TaskValues.Need]) {
    texts = needs.map(\.written)
    for (need, text) in texts.enumerated() {
      note(text, need)
      if let end = text.firstIndex(of: UInt8(ascii: "[")), end > 0 {
        note(text.part(0..<end), need)
      }
    }
  }

  private mutating func note(_ id: Text, _ need: Int) {
    if let known = ids.insert(id) {
      needs[known].append(Int32(truncatingIfNeeded: need))
    } else {
      needs.append([Int32(truncatingIfNeeded: need)])
    }
  }

  /// Returns nil if no need has the ID.
  func number(of id: Text) -> Int? { ids.index(of: id) }

  /// Returns at least one need.
  func needs(_ number: Int) -> [Int32] { needs[number] }

  /// Whether a need is exactly that ID.
  func names(_ id: Text) -> Bool {
    number(of: id).map { needs[$0].contains { texts[Int($0)].count == id.count } } ?? false
  }
}
