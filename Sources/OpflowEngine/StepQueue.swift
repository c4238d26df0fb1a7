/// Decided steps, moved and not copied: a step has a hundred bytes.
package struct StepQueue: ~Copyable {
  // SAFETY: `base` has room for `capacity` steps; those from `first` to `end` are initialized. Only
  // this type uses it.
  private var base: UnsafeMutablePointer<EngineStep>
  private var capacity: Int
  private var first = 0
  private var end = 0

  init(capacity: Int = 64) {
    base = .allocate(capacity: capacity)
    self.capacity = capacity
  }

  deinit {
    (base + first).deinitialize(count: end - first)
    base.deallocate()
  }

  @inline(__always)
  var isEmpty: Bool { first == end }

  @inline(__always)
  mutating func append(_ step: consuming EngineStep) {
    if end == capacity { makeRoom() }
    (base + end).initialize(to: step)
    end += 1
  }

  /// Requires a step.
  @inline(__always)
  func firstIs(_ such: (borrowing EngineStep) -> Bool) -> Bool {
    precondition(first < end)
    return such(base[first])
  }

  @inline(__always)
  mutating func removeFirst() -> EngineStep {
    precondition(first < end)
    let place = base + first
    first += 1
    if first == end { (first, end) = (0, 0) }
    return place.move()
  }

  @inline(never)
  private mutating func makeRoom() {
    let count = end - first
    if first >= capacity / 2 {
      base.moveInitialize(from: base + first, count: count)
    } else {
      let grown = UnsafeMutablePointer<EngineStep>.allocate(capacity: capacity * 2)
      grown.moveInitialize(from: base + first, count: count)
      base.deallocate()
      base = grown
      capacity *= 2
    }
    (first, end) = (0, count)
  }
}
