package enum PlanError: Error, Equatable, Sendable {
  case tooShort
  case notAPlan
  case version(found: UInt32, expected: UInt32)
  case length(found: UInt64, expected: UInt64)
  case checksum
  case section(PlanSection)
  case reference(PlanSection)

  package var message: String {
    switch self {
    case .tooShort: "it is cut short"
    case .notAPlan: "it is something else"
    case .version(let found, let expected):
      "it has format \(found), this opflow reads \(expected)"
    case .length(let found, let expected): "it has \(found) bytes instead of \(expected)"
    case .checksum: "it is damaged: its checksum does not hold"
    case .section(let section): "its section table is wrong at `\(section)`"
    case .reference(let section): "its section `\(section)` is not sound"
    }
  }
}
