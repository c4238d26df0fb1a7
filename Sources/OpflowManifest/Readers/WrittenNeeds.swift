/// The needs of one task as it writes them, found by the ids that it reads values of: each need by itself, and
/// those of some legs by their family too. However many there are, each is found at once.
struct WrittenNeeds {
  /// In the order of the task.
  let texts: [Text]
  private var ids = NameIndex()
  /// For each id, the needs that it names, in their order.
  private var needs: [[Int32]] = []

  /// - Parameter needs: not to be resolved yet, or with what they were `written` as.
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

  /// What stands for an id that names any need; nil for another one.
  func number(of id: Text) -> Int? { ids.index(of: id) }

  /// The needs that the id of that number names; never none.
  func needs(_ number: Int) -> [Int32] { needs[number] }

  /// Whether a need is that id itself.
  func names(_ id: Text) -> Bool {
    number(of: id).map { needs[$0].contains { texts[Int($0)].count == id.count } } ?? false
  }
}
