internal import OpflowBase
package import OpflowPlan

package struct SiteEntry: Sendable, Equatable {
  package var site: SiteID
  package var state: SiteState
  package var host: String
  /// Of a node that joined; 0 if unknown.
  package var cores: UInt64 = 0
  package var memoryBytes: UInt64 = 0
  package var gpus: UInt64 = 0
  package var incarnation = ""
  package var leaseMilliseconds: Int64 = 0
  /// Of a node that joined: until its allocation ends; nil for no limit.
  package var leftMilliseconds: Int64?
  /// For people; may be empty.
  package var what = ""

  package init(_ site: SiteID, _ state: SiteState, host: String) {
    self.site = site
    self.state = state
    self.host = host
  }
}

/// The state of a node; raw values stand in the journal.
package enum SiteState: String, Sendable, CaseIterable {
  case joined
  /// It was preempted, or its time is over: no task starts there.
  case leaving
  /// Quarantined, since too much was lost: no task starts there.
  case shunned
  /// Used again, since no other node is left.
  case readmitted
  /// The connection is lost and processes may still run: no task starts there.
  case silent
  case lost

  package var isInUse: Bool { self == .joined || self == .readmitted }
}

extension JournalLine {
  /// Nil if the state is missing or unknown.
  var site: SiteEntry? {
    var number: Int32?
    var entry = SiteEntry(.local, .joined, host: "")
    var state: SiteState?
    for field in fields {
      switch field.key {
      case .site: number = field.small
      case .state: state = SiteState(rawValue: field.text)
      case .host: entry.host = field.text
      case .cores: entry.cores = Field.number(field.value) ?? 0
      case .memory: entry.memoryBytes = Field.number(field.value) ?? 0
      case .gpus: entry.gpus = Field.number(field.value) ?? 0
      case .incarnation: entry.incarnation = field.text
      case .lease: entry.leaseMilliseconds = field.natural
      case .until: entry.leftMilliseconds = field.natural
      case .what: entry.what = field.text
      default: break
      }
    }
    guard let number, number > 0, let state else { return nil }
    entry.site = SiteID(number)
    entry.state = state
    return entry
  }
}

extension FieldWriter {
  mutating func write(_ entry: SiteEntry, drive: Int) {
    if drive > 1 { field(.drive, drive) }
    field(.site, entry.site.rawValue)
    field(.state, entry.state.rawValue)
    field(.host, entry.host)
    fieldUnlessZero(.cores, entry.cores)
    fieldUnlessZero(.memory, entry.memoryBytes)
    fieldUnlessZero(.gpus, entry.gpus)
    fieldUnlessEmpty(.incarnation, entry.incarnation)
    fieldUnlessZero(.lease, entry.leaseMilliseconds)
    if let left = entry.leftMilliseconds { field(.until, left) }
    fieldUnlessEmpty(.what, entry.what)
  }
}
