internal import OpflowCore

// Capacities, and what tasks ask of them.

extension ManifestReader {
  /// Top-level `resources`, and what `max_parallel` and `-j` say about `cpu`.
  mutating func readResources(_ fields: Fields<ManifestKey>) {
    if let node = fields[.resources], let entries = mapEntries(node, Subject(ManifestKey.resources))
    {
      for index in 0..<entries.count { readCapacity(entries, index, fields) }
    }
    if let wanted = options.maxParallel {
      resources.setMachineCapacity(ResourceEntry.cpu, UInt64(wanted))
    } else if maxParallel > 0 {
      resources.setMachineCapacity(ResourceEntry.cpu, UInt64(maxParallel))
    }
  }

  private mutating func readCapacity(
    _ entries: Entries, _ index: Int, _ fields: Fields<ManifestKey>
  ) {
    let name = entries.name(index)
    let node = entries.value(index)
    guard VariableName.isExpressionName(name) else {
      mistakes.error(
        document.place(entries.keys[index]), "`\(name.string)` is no name of a resource",
        help: "a name is letters, digits, `_` and `-`, and begins with a letter or `_`")
      return
    }
    // Known all the same when its value is wrong, or every use of it would be a mistake too.
    guard let capacity = readAmount(node, name, atLeast: 1) else {
      if resources.index(of: name) == nil { resources.declare(name, capacity: .max) }
      return
    }
    guard name == "cpu" else {
      resources.declare(name, capacity: capacity)
      return
    }
    if fields[.maxParallel] == nil {
      maxParallel = UInt32(capacity)
    } else {
      mistakes.error(
        document.place(entries.keys[index]), "the capacity of `cpu` is set twice",
        help: "keep `max_parallel`, or `resources.cpu`")
    }
  }

  /// An amount of a resource, in what that is counted in: a whole number of `cpu` and `download`, a
  /// size of `memory`, and of the manifest's own a size or a number with up to three decimals.
  ///
  /// - Parameter minimum: 0, or 1 where there must be any.
  mutating func readAmount(_ node: Node, _ name: Text, atLeast minimum: Int64) -> UInt64? {
    let subject = Subject.entry("resources", name)
    if name == "cpu" || name == "download" {
      return values.integer(node, subject, in: minimum...1_000_000).map { UInt64($0) }
    }
    let isSize = name == "memory"
    guard let amount = isSize ? values.size(node, subject) : values.thousandths(node, subject)
    else {
      return nil
    }
    if amount > 0 || minimum == 0 { return amount }
    mistakes.error(
      document.place(node),
      "\(subject.description) must be \(isSize ? "at least 1" : "more than 0")")
    return nil
  }

  mutating func readDemands(_ node: Node, into demands: inout Demands) {
    guard let entries = mapEntries(node, Subject(TaskKey.resources)) else { return }
    for index in 0..<entries.count {
      let name = entries.name(index)
      guard let resource = resources.index(of: name) else {
        mistakes.error(
          document.place(entries.keys[index]), "unknown resource `\(name.string)`",
          help: undeclaredHelp(name, entries.value(index)))
        continue
      }
      guard let amount = readAmount(entries.value(index), name, atLeast: 0) else { continue }
      if check(amount, of: resource, name, at: entries.value(index)) {
        demands.set(resource, amount)
      }
    }
  }

  private func undeclaredHelp(_ name: Text, _ node: Node) -> String {
    let amount = document.scalarText(node).flatMap { $0.count <= 20 ? $0.string : nil } ?? "1"
    let declare =
      "declare its capacity at the top of the manifest: `resources: { \(name.string): \(amount) }`"
    // `cpu` is near to every short name.
    guard name.count > 3,
      let nearest = scope.suggestions.nearest(to: name, among: resources.names.texts)
    else { return declare }
    return "did you mean `\(nearest.string)`? Else \(declare)"
  }

  /// Whether a demand can ever be met.
  private mutating func check(
    _ amount: UInt64, of resource: UInt32, _ name: Text, at node: Node
  ) -> Bool {
    let capacity = resources.capacity(resource)
    if amount <= capacity { return true }
    if ResourceTable.isCut(resource) {
      mistakes.warning(
        document.place(node),
        "`\(name.string)` \(amount) is more than the \(capacity) there is: the task runs alone")
      return true
    }
    mistakes.error(
      document.place(node),
      "`\(name.string)` \(ResourceEntry.text(amount, of: resource)) is more than its capacity"
        + " \(ResourceEntry.text(capacity, of: resource))",
      help: "ask for less, or raise the capacity under top-level `resources`")
    return false
  }
}
