/// How much of one resource a task holds while it runs.
package struct DemandItem: Hashable, Sendable, BitwiseCopyable {
  /// Index into the plan's resources.
  package var resource: UInt32
  package var reserved: UInt32 = 0
  /// In what the resource is counted in.
  package var amount: UInt64
  package init(resource: UInt32, amount: UInt64) {
    self.resource = resource
    self.amount = amount
  }
}

/// A capacity that tasks share out.
package struct ResourceEntry: Hashable, Sendable, BitwiseCopyable {
  package var name: TextRef
  /// Units for `cpu` and `download`, bytes for `memory`, thousandths for the manifest's own: half a GPU
  /// is 500. 0 for a built-in one whose capacity the machine decides.
  package var capacity: UInt64
  package init(name: TextRef, capacity: UInt64) {
    self.name = name
    self.capacity = capacity
  }
  /// The built-in resources stand first, in this order.
  package static let cpu: UInt32 = 0
  package static let memory: UInt32 = 1
  package static let download: UInt32 = 2

  /// What a machine has as well, behind the manifest's own and only in a plan whose tasks want any: those of each machine,
  /// where the manifest declares no capacity of that name. Counted as the manifest's own are.
  package static let gpuName: StaticString = "gpu"

  /// Whether each machine has its own of a resource, by its number; all else is the run's.
  ///
  /// - Parameter gpu: the number of `gpu` where that is of each machine; below 0 where it is not.
  @inline(__always)
  static func isOfMachine(_ resource: Int, gpu: Int) -> Bool {
    resource == Int(cpu) || resource == Int(memory) || resource == gpu
  }

  /// Whether amounts of a resource, by its number, are thousandths.
  package static func isCountedInThousandths(_ resource: UInt32) -> Bool { resource > download }

  /// An amount as a manifest has it: `2`, `0.5`, and bytes for `memory`.
  package static func text(_ amount: UInt64, of resource: UInt32) -> String {
    guard isCountedInThousandths(resource) else { return "\(amount)" }
    let (whole, rest) = amount.quotientAndRemainder(dividingBy: 1000)
    if rest == 0 { return "\(whole)" }
    var digits = String(1000 + rest).dropFirst()
    while digits.last == "0" { digits.removeLast() }
    return "\(whole).\(digits)"
  }
}
