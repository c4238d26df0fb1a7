/// The amount that a task holds while it runs.
package struct DemandItem: Hashable, Sendable, BitwiseCopyable {
  package var resource: UInt32
  package var reserved: UInt32 = 0
  /// In the units of `ResourceEntry.capacity`.
  package var amount: UInt64
  package init(resource: UInt32, amount: UInt64) {
    self.resource = resource
    self.amount = amount
  }
}

package struct ResourceEntry: Hashable, Sendable, BitwiseCopyable {
  package var name: TextRef
  /// In units for `cpu` and `download`, bytes for `memory`, otherwise thousandths (half a GPU is
  /// 500). 0 if the machine decides.
  package var capacity: UInt64
  package init(name: TextRef, capacity: UInt64) {
    self.name = name
    self.capacity = capacity
  }
  /// Built-in resources come first, in this order.
  package static let cpu: UInt32 = 0
  package static let memory: UInt32 = 1
  package static let download: UInt32 = 2

  /// Of each node, after the manifest's resources. Only if a task wants it and the manifest
  /// declares no such capacity.
  package static let gpuName: StaticString = "gpu"

  /// Each node has its own amount.
  ///
  /// - Parameter gpu: the index of the nodes' `gpu`; negative if there is none.
  @inline(__always)
  package static func isOfMachine(_ resource: Int, gpu: Int) -> Bool {
    resource == Int(cpu) || resource == Int(memory) || resource == gpu
  }

  package static func isCountedInThousandths(_ resource: UInt32) -> Bool { resource > download }

  /// As in a manifest: `2`, `0.5`, bytes for `memory`.
  package static func text(_ amount: UInt64, of resource: UInt32) -> String {
    guard isCountedInThousandths(resource) else { return "\(amount)" }
    let (whole, rest) = amount.quotientAndRemainder(dividingBy: 1000)
    if rest == 0 { return "\(whole)" }
    var digits = String(1000 + rest).dropFirst()
    while digits.last == "0" { digits.removeLast() }
    return "\(whole).\(digits)"
  }
}
