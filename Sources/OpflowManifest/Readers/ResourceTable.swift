internal import OpflowCore

/// The resources, built-in ones first, as in `ResourceEntry`.
struct ResourceTable {
  private(set) var names = TextTable()
  /// Capacities in the plan; 0 lets the computer decide.
  private var declared: [UInt64] = []
  /// Capacities of this computer.
  private var machine: [UInt64]

  private static let downloadCapacity: UInt64 = 4

  private let gpu: Text
  /// Whether these are the fixed resources of a run.
  let isOfRun: Bool

  init(cpu: UInt64, memory: UInt64, store: TextStore) {
    isOfRun = false
    gpu = store.copy(ResourceEntry.gpuName.description)
    machine = [cpu, memory, Self.downloadCapacity]
    for name in ["cpu", "memory", "download"] {
      _ = names.insert(store.copy(name))
      declared.append(0)
    }
  }

  /// - Parameter plan: Must outlive the table.
  init(of plan: Plan, cpu: UInt64, memory: UInt64, store: TextStore) {
    isOfRun = true
    gpu = store.copy(ResourceEntry.gpuName.description)
    machine = [
      plan.manifest.maxParallel > 0 ? UInt64(plan.manifest.maxParallel) : cpu, memory,
      Self.downloadCapacity,
    ]
    for entry in plan.resources {
      _ = names.insert(plan.text(entry.name))
      declared.append(entry.capacity)
    }
  }

  /// Names the manifest in errors.
  var manifestName: String { isOfRun ? "the run's first manifest" : "the manifest" }

  func index(of name: Text) -> UInt32? { names.index(of: name).map { UInt32($0) } }

  /// Whether larger demands are reduced to the capacity.
  static func isCut(_ resource: UInt32) -> Bool {
    resource == ResourceEntry.cpu || resource == ResourceEntry.memory
  }

  mutating func declare(_ name: Text, capacity: UInt64) {
    let (index, isNew) = names.insert(name)
    if isNew { declared.append(capacity) } else { declared[index] = capacity }
  }

  /// Ends the declarations. Each node counts its own `gpu` if it is undeclared.
  mutating func endDeclaring() {
    if !isOfRun, names.index(of: gpu) == nil { declare(gpu, capacity: 0) }
  }

  /// Whether it is an undeclared `gpu`, of which tasks get whole devices.
  func isGPUOfMachine(_ resource: UInt32) -> Bool {
    Int(resource) >= machine.count && declared[Int(resource)] == 0
  }

  func capacity(_ resource: UInt32) -> UInt64 {
    let index = Int(resource)
    return declared[index] > 0 || index >= machine.count ? declared[index] : machine[index]
  }

  mutating func setMachineCapacity(_ resource: UInt32, _ capacity: UInt64) {
    machine[Int(resource)] = capacity
  }

  /// - Parameter isWanted: Whether any task asks for it.
  func entries(_ isWanted: (UInt32) -> Bool, intern: (Text) -> TextRef) -> [ResourceEntry] {
    var count = declared.count
    let last = UInt32(truncatingIfNeeded: count - 1)
    if !isOfRun, isGPUOfMachine(last), !isWanted(last) { count -= 1 }
    return zip(names.texts, declared).prefix(count).map {
      ResourceEntry(name: intern($0), capacity: $1)
    }
  }
}
