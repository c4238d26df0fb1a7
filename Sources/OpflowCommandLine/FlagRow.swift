struct FlagRow {
  /// After `--`; nil for a flag with a letter only.
  let long: String?
  let letter: Character?
  let group: FlagGroup
  let meaning: String
  let takes: FlagValue

  init(
    _ long: String?, _ letter: Character? = nil, in group: FlagGroup, _ meaning: String,
    takes: FlagValue
  ) {
    self.long = long
    self.letter = letter
    self.group = group
    self.meaning = meaning
    self.takes = takes
  }

  var spelled: String {
    if let long { return "--\(long)" }
    return letter.map { "-\($0)" } ?? ""
  }
}

enum FlagGroup: String, CaseIterable {
  case selection = "What runs"
  case removal = "What goes"
  case limits = "How much at once, and how long"
  case shown = "What is shown"
  case place = "Where"
  case other = "Else"
}
