/// Values in a row, by number: hot state of an engine, which nobody shares.
///
/// What writes to an array sees every time whether somebody else has it too, which was a quarter of what a decision
/// costs. A table does not look: a copy of it is the same table. So an engine, which has them all, cannot be copied,
/// and a part of it is copied only to be looked at. Every access is checked against the count.
struct Table<Element> {
  private struct Storage {
    var base: UnsafeMutablePointer<Element>
    var capacity: Int
    var count = 0
  }

  /// Frees it all with the last of those that have it.
  private final class Owner {
    // SAFETY: `base` has room for `capacity` values, of which the first `count` are initialized. It is used by the
    // tables that have this owner alone, all of them on one thread.
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
  // The owner's, so that nothing is retained to look there.
  private let storage: UnsafeMutablePointer<Storage>

  init(capacity: Int = 0) {
    owner = Owner(capacity: capacity)
    storage = owner.storage
  }

  /// So many of a value.
  init(repeating element: Element, count: Int) {
    self.init(capacity: count)
    append(repeating: element, count: count)
  }

  /// As an array has them.
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

  /// All of them, for who looks at everything.
  var all: [Element] { Array(UnsafeBufferPointer(start: storage.pointee.base, count: count)) }

  /// The last one, if there is one.
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

  /// Appends so many of a value.
  mutating func append(repeating element: Element, count added: Int) {
    let end = count
    if end + added > storage.pointee.capacity { grow(to: max(end + added, end * 2)) }
    (storage.pointee.base + end).initialize(repeating: element, count: added)
    storage.pointee.count = end + added
  }

  /// Takes out the last one; there is one.
  @inline(__always)
  mutating func removeLast() -> Element {
    precondition(!isEmpty)
    storage.pointee.count -= 1
    return (storage.pointee.base + count).move()
  }

  /// Takes out the last one, if there is one.
  @inline(__always)
  mutating func popLast() -> Element? { isEmpty ? nil : removeLast() }

  /// Takes one out, in whose place the last one comes.
  ///
  /// - Returns: which one that is; nil where it was the last itself.
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
