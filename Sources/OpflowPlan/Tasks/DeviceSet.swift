/// GPUs of one node, by their index on it.
package struct DeviceSet: Hashable, Sendable, BitwiseCopyable {
  private(set) var bits: UInt64 = 0

  /// Per node.
  package static let most = 64

  package init() {}

  package init(_ numbers: some Sequence<Int>) {
    for number in numbers where (0..<Self.most).contains(number) { bits |= 1 << UInt64(number) }
  }

  package var isEmpty: Bool { bits == 0 }
  package var count: Int { bits.nonzeroBitCount }

  package var numbers: [Int] {
    var rest = bits
    var numbers: [Int] = []
    while rest != 0 {
      numbers.append(rest.trailingZeroBitCount)
      rest &= rest &- 1
    }
    return numbers
  }

  package func isDisjoint(with other: DeviceSet) -> Bool { bits & other.bits == 0 }

  package mutating func formUnion(_ other: DeviceSet) { bits |= other.bits }

  package mutating func subtract(_ other: DeviceSet) { bits &= ~other.bits }

  package mutating func takeFirstMissing(_ count: Int) -> DeviceSet {
    var taken = DeviceSet()
    for _ in 0..<count {
      let free = ~bits
      if free == 0 { break }
      let bit = free & (0 &- free)
      bits |= bit
      taken.bits |= bit
    }
    return taken
  }
}
