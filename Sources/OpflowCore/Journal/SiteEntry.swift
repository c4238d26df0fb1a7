/// What became of a further machine.
package struct SiteEntry: Sendable, Equatable {
  package var site: SiteID
  package var state: SiteState
  /// The machine's name.
  package var host: String
  /// Of one that joined, as far as it is known; 0 where it is not.
  package var cores: UInt64 = 0
  package var memoryBytes: UInt64 = 0
  package var gpus: UInt64 = 0
  package var incarnation = ""
  package var leaseMilliseconds: Int64 = 0
  /// Of one that joined: until its time is over; nil where that is not limited.
  package var leftMilliseconds: Int64?
  /// Why, for people; empty where there is nothing to say.
  package var what = ""

  package init(_ site: SiteID, _ state: SiteState, host: String) {
    self.site = site
    self.state = state
    self.host = host
  }
}

/// How a further machine stands; the word of the journal.
package enum SiteState: String, Sendable, CaseIterable {
  /// Tasks run there.
  case joined
  /// Nothing new starts there: it was preempted, or its time is over.
  case leaving
  /// Nothing new starts there: too much was lost there.
  case shunned
  /// It is used again, since no other one is left.
  case readmitted
  /// Its stream is lost, and its processes may go on: nothing new starts there.
  case silent
  /// It is gone, and so is every process that it had.
  case lost

  /// New tasks start there.
  var isInUse: Bool { self == .joined || self == .readmitted }
}

extension JournalLine {
  /// Nil for a state of a later opflow, and where none is told.
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
