/// Values in a row, by number, that belong to one holder alone: what writes to them need not see whether somebody
/// else has them too, as a write to an array does every time. Hot state lies in these; every access is checked
/// against the count.
struct Table<Element: ~Copyable>: ~Copyable {
  // SAFETY: `base` has room for `capacity` values, of which the first `count` are initialized. It is used here alone.
  private var base: UnsafeMutablePointer<Element>
  private var capacity: Int
  private(set) var count = 0

  init(capacity: Int = 0) {
    base = .allocate(capacity: capacity)
    self.capacity = capacity
  }

  deinit {
    base.deinitialize(count: count)
    base.deallocate()
  }

  @inline(__always)
  var isEmpty: Bool { count == 0 }

  @inline(__always)
  var indices: Range<Int> { 0..<count }

  subscript(index: Int) -> Element {
    @inline(__always) unsafeAddress { UnsafePointer(base + checked(index)) }
    @inline(__always) unsafeMutableAddress { base + checked(index) }
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
    if count == capacity { grow(to: max(8, capacity * 2)) }
    (base + count).initialize(to: element)
    count += 1
  }

  /// Takes out the last one; there is one.
  @inline(__always)
  mutating func removeLast() -> Element {
    precondition(count > 0)
    count -= 1
    return (base + count).move()
  }

  mutating func removeAll() {
    base.deinitialize(count: count)
    count = 0
  }

  @inline(never)
  private mutating func grow(to room: Int) {
    let grown = UnsafeMutablePointer<Element>.allocate(capacity: room)
    grown.moveInitialize(from: base, count: count)
    base.deallocate()
    base = grown
    capacity = room
  }
}

extension Table where Element: Copyable {
  /// So many of a value.
  init(repeating element: Element, count: Int) {
    self.init(capacity: count)
    base.initialize(repeating: element, count: count)
    self.count = count
  }

  /// As an array has them.
  init(_ elements: [Element]) {
    self.init(capacity: elements.count)
    for element in elements { append(element) }
  }

  /// Appends so many of a value.
  mutating func append(repeating element: Element, count added: Int) {
    if count + added > capacity { grow(to: max(count + added, capacity * 2)) }
    (base + count).initialize(repeating: element, count: added)
    count += added
  }

  /// All of them, for who looks at everything.
  var all: [Element] { indices.map { base[$0] } }

  /// Takes out the last one, if there is one.
  @inline(__always)
  mutating func popLast() -> Element? { count == 0 ? nil : removeLast() }

  /// The last one, if there is one.
  @inline(__always)
  var last: Element? { count == 0 ? nil : base[count - 1] }
}

extension Table where Element: Copyable {
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
}
