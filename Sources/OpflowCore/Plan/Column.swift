/// Records of one kind, where they lie in a plan. Every access is checked against the count.
package struct Column<Record: BitwiseCopyable>: RandomAccessCollection {
  // SAFETY: `base` points at `count` records inside the plan's bytes; a column is used only while
  // its plan lives, which every holder of one ensures by holding the plan. Of no records it points at nothing, and
  // is not followed.
  fileprivate let base: UnsafePointer<Record>
  package let count: Int

  init(base: UnsafePointer<Record>, count: Int) {
    self.base = base
    self.count = count
  }

  /// One of no records.
  init() {
    base = UnsafePointer(
      UnsafeMutablePointer(bitPattern: MemoryLayout<Record>.alignment).unsafelyUnwrapped)
    count = 0
  }

  package var startIndex: Int { 0 }
  package var endIndex: Int { count }

  @inline(__always)
  package subscript(index: Int) -> Record {
    guard UInt(bitPattern: index) < UInt(bitPattern: count) else { outOfBounds(index) }
    return base[index]
  }

  package subscript(range: Range<Int>) -> Column<Record> {
    precondition(range.lowerBound >= 0 && range.upperBound <= count, "plan: range out of bounds")
    return Column(base: base + range.lowerBound, count: range.count)
  }

  private func outOfBounds(_ index: Int) -> Never {
    preconditionFailure("plan: index \(index) of \(count)")
  }
}

extension Column {
  /// The place of the first record of which `isBehind` holds, in a column where it holds of all behind that one
  /// as well; the end where it holds of none.
  func partitioningIndex(where isBehind: (Record) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

extension Column where Record == UInt8 {
  @inline(__always)
  func raw(offset: Int, length: Int) -> UnsafeRawBufferPointer {
    precondition(
      offset >= 0 && length >= 0 && length <= count && offset <= count &- length,
      "plan: range out of bounds")
    return UnsafeRawBufferPointer(start: base + offset, count: length)
  }
}
