internal import OpflowCore

/// The connections of programs that a run is for, and what is to become of the run when they end.
struct Hosts {
  /// Each takes a descriptor for as long as it likes.
  static let most = 64

  private var afterEach: [ClientID: AfterHost] = [:]
  /// The last one has ended since that was asked for, and wants the run to stop.
  private var wantsStop = false
  /// The run is about to end: none joins it any more.
  var isLeaving = false

  var count: Int { afterEach.count }

  func contains(_ client: ClientID) -> Bool { afterEach[client] != nil }

  /// - Returns: whether it may be one; what it says anew replaces what it said.
  mutating func add(_ client: ClientID, _ afterHost: AfterHost) -> Bool {
    if afterEach[client] == nil, count >= Self.most { return false }
    afterEach[client] = afterHost
    return true
  }

  /// Its connection is no more, by whomever it was ended.
  mutating func remove(_ client: ClientID) {
    guard afterEach.removeValue(forKey: client) == .stop, afterEach.isEmpty else { return }
    wantsStop = true
  }

  /// The run is to stop, since none of them is left. One that came meanwhile is one again.
  var isStopDue: Bool { wantsStop && afterEach.isEmpty }

  /// The same, once.
  mutating func takeStop() -> Bool {
    defer { wantsStop = false }
    return isStopDue
  }
}
