/// The run that a word on the command line names: its id, or the start of one that fits no other.
package enum RunChoice: Equatable, Sendable {
  case one(String)
  case none
  /// More than one begins so.
  case several([String])

  package init(_ name: String, among ids: [String]) {
    if ids.contains(name) {
      self = .one(name)
      return
    }
    let fitting = ids.filter { $0.utf8.starts(with: name.utf8) }
    switch fitting.count {
    case 0: self = .none
    case 1: self = .one(fitting[0])
    default: self = .several(fitting)
    }
  }
}
