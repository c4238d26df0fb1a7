extension JournalLine {
  /// What a task left for others, and a hash of what it read of them, as the line's fields tell.
  var values: (left: [TaskValue]?, with: UInt64?) {
    var left: [TaskValue]?
    var with: UInt64?
    for field in fields {
      switch field.key {
      case .values: left = ValueList.values(field.value)
      case .with: with = UInt64(field.text, radix: 16)
      default: break
      }
    }
    return (left, with)
  }
}
