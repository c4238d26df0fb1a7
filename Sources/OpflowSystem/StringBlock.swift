/// Strings as execve(2) takes them: an array of pointers, ended by a null, to bytes that end with a
/// zero. Kept between calls, so that a program is started without building its strings anew.
package final class StringBlock {
  // SAFETY: both are allocated here, sized by what was appended, and freed in deinit; pointers are
  // made only once the bytes have their final place.
  private var bytes: UnsafeMutablePointer<CChar>
  private var byteCapacity: Int
  private var byteCount = 0
  private var starts: [Int] = []
  private var table: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  private var tableCapacity: Int
  private var isTableCurrent = false

  package init() {
    byteCapacity = 4096
    bytes = .allocate(capacity: byteCapacity)
    tableCapacity = 64
    table = .allocate(capacity: tableCapacity)
  }

  package convenience init(_ strings: some Sequence<some Sequence<UInt8>>) {
    self.init()
    for string in strings { append(string) }
  }

  deinit {
    bytes.deallocate()
    table.deallocate()
  }

  package var count: Int { starts.count }

  package func removeAll() { removeLast(starts.count) }

  /// Takes the last strings away again.
  package func removeLast(_ count: Int) {
    guard count > 0 else { return }
    byteCount = starts[starts.count - count]
    starts.removeLast(count)
    isTableCurrent = false
  }

  /// Adds one string; it must not hold a zero.
  package func append(_ string: some Sequence<UInt8>) {
    begin()
    for byte in string {
      reserve(1)
      bytes[byteCount] = CChar(bitPattern: byte)
      byteCount += 1
    }
    end()
  }

  /// Begins a string that is put together from parts; `end` ends it.
  package func begin() {
    starts.append(byteCount)
    isTableCurrent = false
  }

  package func add(_ part: UnsafeRawBufferPointer) {
    reserve(part.count)
    if let from = part.baseAddress {
      UnsafeMutableRawPointer(bytes + byteCount).copyMemory(from: from, byteCount: part.count)
      byteCount += part.count
    }
  }

  package func add(_ text: StaticString) {
    add(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  package func end() {
    reserve(1)
    bytes[byteCount] = 0
    byteCount += 1
  }

  /// Where a string stands; until something is added.
  package subscript(index: Int) -> UnsafeMutablePointer<CChar> { bytes + starts[index] }

  /// The array; until something is added or taken away.
  package var pointers: UnsafePointer<UnsafeMutablePointer<CChar>?> {
    if !isTableCurrent { buildTable() }
    return UnsafePointer(table)
  }

  private func buildTable() {
    if starts.count + 1 > tableCapacity {
      table.deallocate()
      tableCapacity = starts.count * 2 + 1
      table = .allocate(capacity: tableCapacity)
    }
    for (index, start) in starts.enumerated() { (table + index).initialize(to: bytes + start) }
    (table + starts.count).initialize(to: nil)
    isTableCurrent = true
  }

  private func reserve(_ extra: Int) {
    if byteCount + extra <= byteCapacity { return }
    byteCapacity = max(byteCapacity * 2, byteCount + extra)
    let larger = UnsafeMutablePointer<CChar>.allocate(capacity: byteCapacity)
    larger.initialize(from: bytes, count: byteCount)
    bytes.deallocate()
    bytes = larger
    isTableCurrent = false
  }
}
