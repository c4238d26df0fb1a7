internal import OpflowBase
internal import OpflowPlan

extension JournalLine {
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
