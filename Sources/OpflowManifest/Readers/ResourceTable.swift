internal import OpflowCore

/// The resources of a manifest: the built-in ones first, in the order of `ResourceEntry`.
struct ResourceTable {
  private(set) var names = TextTable()
  /// What the plan says; 0 where the machine decides.
  private var declared: [UInt64] = []
  /// What the machine decides.
  private var machine: [UInt64]

  private static let downloadCapacity: UInt64 = 4

  private let gpu: Text
  /// Whether they are those of the run that the manifest is added to, which are what they are.
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

  /// Those of a run.
  ///
  /// - Parameter plan: lives as long as this.
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

  /// Where capacities are declared, as mistakes call it.
  var manifestName: String { isOfRun ? "the run's first manifest" : "the manifest" }

  func index(of name: Text) -> UInt32? { names.index(of: name).map { UInt32($0) } }

  /// Whether tasks that ask for more than there is are cut to the whole.
  static func isCut(_ resource: UInt32) -> Bool {
    resource == ResourceEntry.cpu || resource == ResourceEntry.memory
  }

  mutating func declare(_ name: Text, capacity: UInt64) {
    let (index, isNew) = names.insert(name)
    if isNew { declared.append(capacity) } else { declared[index] = capacity }
  }

  /// All that the manifest declares is known: what it does not say of GPUs each machine does.
  mutating func endDeclaring() {
    if !isOfRun, names.index(of: gpu) == nil { declare(gpu, capacity: 0) }
  }

  /// Whether it is `gpu` as each machine has it, and tasks get GPUs of their own.
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

  /// - Parameter isWanted: whether any task asks for some of it.
  func entries(_ isWanted: (UInt32) -> Bool, intern: (Text) -> TextRef) -> [ResourceEntry] {
    var count = declared.count
    let last = UInt32(truncatingIfNeeded: count - 1)
    if !isOfRun, isGPUOfMachine(last), !isWanted(last) { count -= 1 }
    return zip(names.texts, declared).prefix(count).map {
      ResourceEntry(name: intern($0), capacity: $1)
    }
  }
}
