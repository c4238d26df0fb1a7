/// Records of one type inside a plan's bytes. Every access is bounds-checked.
package struct Column<Record: BitwiseCopyable>: RandomAccessCollection {
  // SAFETY: `base` points at `count` records of the plan's bytes, and every holder of a column
  // holds the plan. Without records it dangles and is never dereferenced.
  fileprivate let base: UnsafePointer<Record>
  package let count: Int

  init(base: UnsafePointer<Record>, count: Int) {
    self.base = base
    self.count = count
  }

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
  /// The first index for which `isBehind` is true. It must stay true from there on.
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
