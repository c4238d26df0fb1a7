internal import OpflowPlan

struct Deadline {
  /// Nil if not set, or paused.
  private(set) var at: Instant?
  /// Nanoseconds left while paused.
  private var left: Int64?

  var isClear: Bool { at == nil && left == nil }

  mutating func set(_ at: Instant) {
    self.at = at
    left = nil
  }

  mutating func clear() {
    at = nil
    left = nil
  }

  mutating func pause(at now: Instant) {
    guard let at else { return }
    left = at.nanoseconds - now.nanoseconds
    self.at = nil
  }

  mutating func proceed(at now: Instant) {
    guard let left else { return }
    set(now.advanced(byNanoseconds: left))
  }

  mutating func postpone(by nanoseconds: Int64, atLeastTo least: Instant) {
    guard let at else { return }
    self.at = max(at.advanced(byNanoseconds: nanoseconds), least)
  }
}
