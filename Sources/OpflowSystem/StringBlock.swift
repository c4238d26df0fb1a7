/// A null-terminated array of C strings for execve(2), reused between calls to save building it.
package final class StringBlock {
  // SAFETY: allocated here, sized by what was appended, freed in deinit. Pointers are made only
  // once the bytes have their final place.
  private var bytes: UnsafeMutablePointer<CChar>
  private var byteCapacity: Int
  /// Zeros included.
  package private(set) var byteCount = 0
  private var starts: [Int] = []
  private var table: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  private var tableCapacity: Int
  /// The number of valid leading pointers in the table.
  private var currentCount = 0

  package init() {
    byteCapacity = 4096
    bytes = .allocate(capacity: byteCapacity)
    tableCapacity = 64
    table = .allocate(capacity: tableCapacity)
  }

  package convenience init(_ strings: [String]) {
    self.init()
    for string in strings { append(string) }
  }

  deinit {
    bytes.deallocate()
    table.deallocate()
  }

  package var count: Int { starts.count }

  package func removeAll() { removeLast(starts.count) }

  package func removeLast(_ count: Int) {
    guard count > 0 else { return }
    byteCount = starts[starts.count - count]
    starts.removeLast(count)
    currentCount = min(currentCount, starts.count)
  }

  /// The string must not contain a zero.
  package func append(_ string: String) {
    var string = string
    string.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }

  package func append(_ string: [UInt8]) {
    string.withUnsafeBytes { append($0) }
  }

  package func append(_ string: UnsafeRawBufferPointer) {
    begin()
    add(string)
    end()
  }

  /// Begins a string of several parts, up to `end`.
  package func begin() {
    starts.append(byteCount)
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

  package func add(number: Int32) {
    if number < 0 { add(UInt8(ascii: "-")) }
    var divisor: UInt32 = 1
    while number.magnitude / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      add(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number.magnitude / divisor % 10))
      divisor /= 10
    }
  }

  /// Sixteen digits.
  package func add(hexadecimal number: UInt64) {
    for shift in stride(from: UInt64(60), through: 0, by: -4) {
      let digit = UInt8(truncatingIfNeeded: number >> shift) & 15
      add(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
  }

  private func add(_ byte: UInt8) {
    reserve(1)
    bytes[byteCount] = CChar(bitPattern: byte)
    byteCount += 1
  }

  package func end() { add(0) }

  /// Its zero included.
  package func byteCount(_ index: Int) -> Int {
    (index + 1 < starts.count ? starts[index + 1] : byteCount) - starts[index]
  }

  package var longest: Int? {
    starts.indices.max { byteCount($0) < byteCount($1) }
  }

  /// Valid until something is added.
  package subscript(index: Int) -> UnsafeMutablePointer<CChar> { bytes + starts[index] }

  /// Valid until something is added or removed.
  package var pointers: UnsafePointer<UnsafeMutablePointer<CChar>?> {
    if starts.count + 1 > tableCapacity {
      table.deallocate()
      tableCapacity = starts.count * 2 + 1
      table = .allocate(capacity: tableCapacity)
      currentCount = 0
    }
    for index in currentCount..<starts.count {
      (table + index).initialize(to: bytes + starts[index])
    }
    (table + starts.count).initialize(to: nil)
    currentCount = starts.count
    return UnsafePointer(table)
  }

  private func reserve(_ extra: Int) {
    if byteCount + extra <= byteCapacity { return }
    byteCapacity = max(byteCapacity * 2, byteCount + extra)
    let larger = UnsafeMutablePointer<CChar>.allocate(capacity: byteCapacity)
    larger.initialize(from: bytes, count: byteCount)
    bytes.deallocate()
    bytes = larger
    currentCount = 0
  }
}
