internal import OpflowBase
internal import OpflowPlan

/// What a flag takes, and its effect.
enum FlagValue {
  case nothing((inout Invocation) -> Void)
  case text(ValueName, (inout Invocation, String) throws(Complaint) -> Void)
  case number(from: UInt32, (inout Invocation, UInt32) -> Void)
  /// Separated by commas.
  case numbers(from: UInt32, (inout Invocation, [UInt32]) -> Void)
  /// The function returns false for an unknown string.
  case choice(() -> [String], (inout Invocation, String) -> Bool)

  static func word<Word: RawRepresentable & CaseIterable>(
    _: Word.Type, _ set: @escaping (inout Invocation, Word) -> Void
  ) -> FlagValue where Word.RawValue == String {
    .choice({ Word.allCases.map { $0.rawValue } }) { invocation, text in
      guard let word = Word(rawValue: text) else { return false }
      set(&invocation, word)
      return true
    }
  }

  var isThere: Bool { if case .nothing = self { false } else { true } }

  /// Empty for a flag without a value.
  var name: String {
    switch self {
    case .nothing: ""
    case .text(let name, _): name.rawValue
    case .number, .numbers: "N"
    case .choice(let words, _): words().joined(separator: "|")
    }
  }

  func read(
    _ text: String, _ spelled: String, into invocation: inout Invocation
  ) throws(Complaint) {
    switch self {
    case .nothing(let set): set(&invocation)
    case .text(let name, let set):
      try name.check(text, spelled)
      try set(&invocation, text)
    case .number(let lowest, let set): set(&invocation, try Self.number(text, spelled, lowest))
    case .numbers(let lowest, let set):
      var numbers: [UInt32] = []
      for part in text.split(separator: ",", omittingEmptySubsequences: false) {
        numbers.append(try Self.number(String(part), spelled, lowest))
      }
      set(&invocation, numbers)
    case .choice(let words, let set):
      if set(&invocation, text) { return }
      let words = words()
      let nearest = NearestName.of(text, among: words).map { "; did you mean \($0)?" } ?? ""
      throw Complaint(
        "\(spelled) is \(words.joined(separator: ", ")), not `\(text.clean)`\(nearest)")
    }
  }

  private static func number(
    _ text: String, _ spelled: String, _ lowest: UInt32
  ) throws(Complaint) -> UInt32 {
    guard let number = decimal(text), number >= lowest else {
      let hint = text == "auto" ? "; without it there are as many as processors" : ""
      throw Complaint(
        "\(spelled) needs a number from \(lowest) to \(Int32.max), not `\(text.clean)`\(hint)")
    }
    return UInt32(number)
  }

  /// `Field`'s generic parser is not specialized here and takes a twentieth of a start.
  private static func decimal(_ text: String) -> Int32? {
    var value: Int32 = 0
    for byte in text.utf8 {
      guard byte >= 48, byte <= 57 else { return nil }
      let (product, isTooMuch) = value.multipliedReportingOverflow(by: 10)
      let (sum, isMore) = product.addingReportingOverflow(Int32(byte - 48))
      if isTooMuch || isMore { return nil }
      value = sum
    }
    return text.isEmpty ? nil : value
  }
}

/// The type of a value, in the words of the help.
enum ValueName: String {
  case assignment = "NAME=VALUE"
  case selector = "SEL"
  case file = "FILE"
  case folder = "DIR"
  case run = "RUN"
  case name = "NAME"
  case duration = "D"
  case command = "COMMAND"
  case sites = "SITES"

  fileprivate func check(_ text: String, _ spelled: String) throws(Complaint) {
    switch self {
    case .assignment:
      if let equals = text.firstIndex(of: "="), equals > text.startIndex { return }
      throw Complaint("\(spelled) needs \(rawValue), not `\(text.clean)`")
    case .name:
      guard RunName.isValid(text) else {
        throw Complaint("\(spelled) has \(RunName.rule), and is not `\(text.clean)`")
      }
    case .selector, .file, .folder, .run, .duration, .command, .sites:
      if text.isEmpty { throw Complaint("\(spelled) needs a value (\(rawValue))") }
    }
  }
}

extension String {
  var clean: String { CleanText.string(self) }
}
