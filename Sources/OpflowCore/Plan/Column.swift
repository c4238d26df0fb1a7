/// Records of one kind, where they lie in a plan. Every access is checked against the count.
package struct Column<Record: BitwiseCopyable>: RandomAccessCollection {
  // SAFETY: `base` points at `count` records inside the plan's bytes; a column is used only while
  // its plan lives, which every holder of one ensures by holding the plan.
  fileprivate let base: UnsafePointer<Record>?
  package let count: Int

  init(base: UnsafePointer<Record>?, count: Int) {
    self.base = base
    self.count = count
  }

  package var startIndex: Int { 0 }
  package var endIndex: Int { count }

  @inline(__always)
  package subscript(index: Int) -> Record {
    guard let base, UInt(bitPattern: index) < UInt(bitPattern: count) else { outOfBounds(index) }
    return base[index]
  }

  package subscript(range: Range<Int>) -> Column<Record> {
    precondition(range.lowerBound >= 0 && range.upperBound <= count, "plan: range out of bounds")
    guard let base else { return self }
    return Column(base: base + range.lowerBound, count: range.count)
  }

  private func outOfBounds(_ index: Int) -> Never {
    preconditionFailure("plan: index \(index) of \(count)")
  }
}

extension Column where Record == UInt8 {
  func raw(offset: Int, length: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: self[offset..<(offset + length)].base, count: length)
  }
}
