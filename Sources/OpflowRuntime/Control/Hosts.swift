internal import OpflowCore

/// The connections of programs that a run is for, and what is to become of the run when they end.
struct Hosts {
  /// Each takes a descriptor for as long as it likes.
  static let most = 64

  private var afterEach: [ClientID: AfterHost] = [:]
  /// The last one has ended since that was asked for, and wants the run to stop.
  private var wantsStop = false
  private var notBefore = Instant(nanoseconds: 0)
  /// In milliseconds.
  private var patience: Int64 = 1
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
    patience = 1
  }

  /// When to see whether the run is to stop, since none of them is left; nil for not at all.
  var stopDueAt: Instant? { wantsStop && afterEach.isEmpty ? notBefore : nil }

  /// Whether that is so now, once. One that came meanwhile is one again.
  ///
  /// - Parameter areOthersThere: whether programs have the run that are not connected. After a loss of what drove it before
  ///   each of them comes in its own time, and who started this drive may be gone by then.
  mutating func takeStop(at now: Instant, areOthersThere: () -> Bool) -> Bool {
    guard let due = stopDueAt else {
      wantsStop = false
      return false
    }
    if due > now { return false }
    if areOthersThere() {
      // One that ends closes its files one by one.
      patience = min(2 * patience, Self.longestPatience)
      notBefore = now.advanced(byMilliseconds: patience)
      return false
    }
    wantsStop = false
    return true
  }

  private static let longestPatience: Int64 = 1_000
}
