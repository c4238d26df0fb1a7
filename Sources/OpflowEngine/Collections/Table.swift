/// A growable array for hot state, with bounds checks but without copy-on-write: the uniqueness
/// check of `Array` was a quarter of a decision's cost. Copies share their storage.
package struct Table<Element> {
  private struct Storage {
    var base: UnsafeMutablePointer<Element>
    var capacity: Int
    var count = 0
  }

  private final class Owner {
    // SAFETY: `base` has room for `capacity` values, of which the first `count` are initialized.
    // Only tables with this owner use it, all on one thread.
    let storage: UnsafeMutablePointer<Storage>

    init(capacity: Int) {
      storage = .allocate(capacity: 1)
      storage.initialize(to: Storage(base: .allocate(capacity: capacity), capacity: capacity))
    }

    deinit {
      storage.pointee.base.deinitialize(count: storage.pointee.count)
      storage.pointee.base.deallocate()
      storage.deallocate()
    }
  }

  private let owner: Owner
  // A copy of the owner's pointer, which saves a retain.
  private let storage: UnsafeMutablePointer<Storage>

  init(capacity: Int = 0) {
    owner = Owner(capacity: capacity)
    storage = owner.storage
  }

  init(repeating element: Element, count: Int) {
    self.init(capacity: count)
    append(repeating: element, count: count)
  }

  init(_ elements: [Element]) {
    self.init(capacity: elements.count)
    for element in elements { append(element) }
  }

  @inline(__always)
  var count: Int { storage.pointee.count }

  @inline(__always)
  var isEmpty: Bool { count == 0 }

  @inline(__always)
  var indices: Range<Int> { 0..<count }

  var all: [Element] { Array(UnsafeBufferPointer(start: storage.pointee.base, count: count)) }

  @inline(__always)
  var last: Element? { isEmpty ? nil : self[count - 1] }

  subscript(index: Int) -> Element {
    @inline(__always) unsafeAddress { UnsafePointer(storage.pointee.base + checked(index)) }
    @inline(__always) unsafeMutableAddress { storage.pointee.base + checked(index) }
  }

  @inline(__always)
  private func checked(_ index: Int) -> Int {
    guard UInt(bitPattern: index) < UInt(bitPattern: count) else { outOfBounds(index) }
    return index
  }

  private func outOfBounds(_ index: Int) -> Never {
    preconditionFailure("index \(index) of \(count)")
  }

  @inline(__always)
  mutating func append(_ element: consuming Element) {
    let end = count
    if end == storage.pointee.capacity { grow(to: max(8, end * 2)) }
    (storage.pointee.base + end).initialize(to: element)
    storage.pointee.count = end + 1
  }

  mutating func append(repeating element: Element, count added: Int) {
    let end = count
    if end + added > storage.pointee.capacity { grow(to: max(end + added, end * 2)) }
    (storage.pointee.base + end).initialize(repeating: element, count: added)
    storage.pointee.count = end + added
  }

  @inline(__always)
  mutating func removeLast() -> Element {
    precondition(!isEmpty)
    storage.pointee.count -= 1
    return (storage.pointee.base + count).move()
  }

  @inline(__always)
  mutating func popLast() -> Element? { isEmpty ? nil : removeLast() }

  /// Moves the last element to `place`; nil if `place` was the last.
  @inline(__always)
  mutating func removeBySwapping(at place: Int) -> Element? {
    let last = removeLast()
    if place == count { return nil }
    self[place] = last
    return last
  }

  mutating func removeAll() {
    storage.pointee.base.deinitialize(count: count)
    storage.pointee.count = 0
  }

  @inline(never)
  private mutating func grow(to room: Int) {
    let grown = UnsafeMutablePointer<Element>.allocate(capacity: room)
    grown.moveInitialize(from: storage.pointee.base, count: count)
    storage.pointee.base.deallocate()
    storage.pointee.base = grown
    storage.pointee.capacity = room
  }
}

extension Array {
  /// Moves the last element to `place`; nil if `place` was the last.
  mutating func removeBySwapping(at place: Int) -> Element? {
    guard let last = popLast(), place < count else { return nil }
    self[place] = last
    return last
  }
}
