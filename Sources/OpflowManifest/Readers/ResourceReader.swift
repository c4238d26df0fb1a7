internal import OpflowPlan

struct CapacityReader: NodeReader {
  let values: ValueReader

  /// - Parameter wanted: `-j`, which overrides `max_parallel`.
  func read(_ keys: Fields<ManifestKey>, wanted: Int?, into manifest: inout ManifestValues) {
    if let node = keys[.resources],
      let entries = values.mapEntries(node, Subject(ManifestKey.resources))
    {
      for index in 0..<entries.count { readCapacity(entries, index, keys, into: &manifest) }
    }
    manifest.resources.endDeclaring()
    if let wanted {
      manifest.resources.setMachineCapacity(ResourceEntry.cpu, UInt64(wanted))
    } else if manifest.maxParallel > 0 {
      manifest.resources.setMachineCapacity(ResourceEntry.cpu, UInt64(manifest.maxParallel))
    }
  }

  private func readCapacity(
    _ entries: Entries, _ index: Int, _ keys: Fields<ManifestKey>,
    into manifest: inout ManifestValues
  ) {
    let name = entries.name(index)
    let node = entries.value(index)
    guard VariableName.isExpressionName(name) else {
      return error(
        entries.keys[index], "`\(name.string)` is not a valid resource name",
        help: "a name has letters, digits, `_` and `-`, and begins with a letter or `_`")
    }
    // Declared despite the error, or every use would be an error too.
    guard let capacity = values.readAmount(node, name, atLeast: 1) else {
      if manifest.resources.index(of: name) == nil {
        manifest.resources.declare(name, capacity: .max)
      }
      return
    }
    guard name == "cpu" else {
      manifest.resources.declare(name, capacity: capacity)
      return
    }
    if keys[.maxParallel] == nil {
      manifest.maxParallel = UInt32(capacity)
    } else {
      error(
        entries.keys[index], "the limit of `cpu` is set twice",
        help: "keep either `max_parallel` or `resources.cpu`")
    }
  }
}

extension ValueReader {
  /// Reads an amount in the resource's unit: a whole number for `cpu` and `download`, a size for
  /// `memory`, else a size or a number with up to three decimals.
  func readAmount(_ node: Node, _ name: ByteView, atLeast minimum: Int64) -> UInt64? {
    let subject = Subject.entry("resources", name)
    if name == "cpu" || name == "download" {
      return integer(node, subject, in: minimum...KeyBounds.maxParallel.upperBound).map {
        UInt64($0)
      }
    }
    let isSize = name == "memory"
    guard let amount = isSize ? size(node, subject) : thousandths(node, subject) else {
      return nil
    }
    if amount > 0 || minimum == 0 { return amount }
    return error(node, "\(subject.description) must be \(isSize ? "at least 1" : "more than 0")")
  }
}

extension ValueReader {
  func readGPUs(_ node: Node) -> UInt64? {
    let count = integer(
      node, .entry("resources", scope.store.copy("gpu")), in: 0...Int64(DeviceSet.most),
      help:
        "a task gets whole GPUs for itself; to share them, declare a limit at the top of the "
        + "manifest: `resources: { gpu: 2 }`")
    return count.map { UInt64($0) * 1000 }
  }
}

struct DemandReader: NodeReader {
  let values: ValueReader
  let resources: ResourceTable

  func read(_ node: Node, into demands: inout Demands) {
    guard let entries = values.mapEntries(node, Subject(TaskKey.resources)) else { return }
    for index in 0..<entries.count {
      let name = entries.name(index)
      guard let resource = resources.index(of: name) else {
        reportUnknown(name, entries.keys[index], entries.value(index))
        continue
      }
      let amount =
        resources.isGPUOfMachine(resource)
        ? values.readGPUs(entries.value(index))
        : values.readAmount(entries.value(index), name, atLeast: 0)
      guard let amount else { continue }
      if check(amount, of: resource, name, at: entries.value(index)) {
        demands.set(resource, amount)
      }
    }
  }

  private func reportUnknown(_ name: ByteView, _ key: Node, _ value: Node) {
    guard resources.isOfRun, name == "gpu" else {
      return error(key, "unknown resource `\(name.string)`", help: undeclaredHelp(name, value))
    }
    error(
      key, "the run has no resource `gpu`, because no task of its first manifest asks for it",
      help:
        "let a task of the run's first manifest ask for it, or declare a limit there: "
        + "`resources: { gpu: 1 }`")
  }

  private func undeclaredHelp(_ name: ByteView, _ node: Node) -> String {
    let amount = document.scalarText(node).flatMap { $0.count <= 20 ? $0.string : nil } ?? "1"
    let declare =
      "declare its limit at the top of \(resources.manifestName): `resources: { \(name.string): "
      + "\(amount) }`"
    // Short names are all similar to `cpu`.
    guard name.count > 3,
      let nearest = scope.suggestions.nearest(to: name, among: resources.names.texts)
    else { return declare }
    return "did you mean `\(nearest.string)`? if not, \(declare)"
  }

  private func check(_ amount: UInt64, of resource: UInt32, _ name: ByteView, at node: Node) -> Bool
  {
    let capacity = resources.capacity(resource)
    if amount <= capacity || resources.isGPUOfMachine(resource) { return true }
    if ResourceTable.isCut(resource) {
      warning(
        node,
        "`\(name.string): \(OpflowPlan.AmountText.text(amount, of: resource))` is more than the "
          + "limit of \(OpflowPlan.AmountText.text(capacity, of: resource)); "
          + "the task will run alone")
      return true
    }
    error(
      node,
      "`\(name.string): \(ResourceEntry.text(amount, of: resource))` is more than the limit of "
        + ResourceEntry.text(capacity, of: resource),
      help: "ask for less, or raise the limit under `resources` at the top of "
        + resources.manifestName)
    return false
  }
}

/// Built-in ones first, as in `ResourceEntry`.
struct ResourceTable {
  private(set) var names = TextTable()
  /// 0 lets the computer decide.
  private var declared: [UInt64] = []
  private var machine: [UInt64]

  private static let downloadCapacity: UInt64 = 4

  private let gpu: ByteView
  /// The resources of a run are fixed.
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

  var manifestName: String { isOfRun ? "the run's first manifest" : "the manifest" }

  func index(of name: ByteView) -> UInt32? { names.index(of: name).map { UInt32($0) } }

  /// Larger demands are reduced to the capacity.
  static func isCut(_ resource: UInt32) -> Bool {
    resource == ResourceEntry.cpu || resource == ResourceEntry.memory
  }

  mutating func declare(_ name: ByteView, capacity: UInt64) {
    let (index, isNew) = names.insert(name)
    if isNew { declared.append(capacity) } else { declared[index] = capacity }
  }

  /// Each node counts its own `gpu` if it is undeclared.
  mutating func endDeclaring() {
    if !isOfRun, names.index(of: gpu) == nil { declare(gpu, capacity: 0) }
  }

  /// Tasks get whole devices of an undeclared `gpu`.
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

  func entries(_ isWanted: (UInt32) -> Bool, intern: (ByteView) -> TextRef) -> [ResourceEntry] {
    var count = declared.count
    let last = UInt32(truncatingIfNeeded: count - 1)
    if !isOfRun, isGPUOfMachine(last), !isWanted(last) { count -= 1 }
    return zip(names.texts, declared).prefix(count).map {
      ResourceEntry(name: intern($0), capacity: $1)
    }
  }
}
