internal import OpflowEngine
internal import OpflowPlan
internal import OpflowWire

/// The connected client programs that use the run as their queue.
struct Hosts {
  /// Each occupies a descriptor without time limit.
  static let most = 64

  private var afterEach: [ClientID: AfterHost] = [:]
  private var wantsStop = false
  private var notBefore = Instant(nanoseconds: 0)
  private var patience: Int64 = 1
  var isLeaving = false

  var count: Int { afterEach.count }

  func contains(_ client: ClientID) -> Bool { afterEach[client] != nil }

  /// Replaces an earlier request; returns false if there are too many.
  mutating func add(_ client: ClientID, _ afterHost: AfterHost) -> Bool {
    if afterEach[client] == nil, count >= Self.most { return false }
    afterEach[client] = afterHost
    return true
  }

  mutating func remove(_ client: ClientID) {
    guard afterEach.removeValue(forKey: client) == .stop, afterEach.isEmpty else { return }
    wantsStop = true
    patience = 1
  }

  /// When to check whether the run stops.
  var stopDueAt: Instant? { wantsStop && afterEach.isEmpty ? notBefore : nil }

  /// Whether to stop the run now; true only once. After its coordinator died, each client
  /// reconnects in its own time (`areOthersThere`).
  mutating func takeStop(at now: Instant, areOthersThere: () -> Bool) -> Bool {
    guard let due = stopDueAt else {
      wantsStop = false
      return false
    }
    if due > now { return false }
    if areOthersThere() {
      // An ending process closes its files one by one.
      patience = min(2 * patience, Self.longestPatience)
      notBefore = now.advanced(byMilliseconds: patience)
      return false
    }
    wantsStop = false
    return true
  }

  private static let longestPatience: Int64 = 1_000
}
