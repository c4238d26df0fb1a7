struct DeclaredOutputs {
  /// Split into names, from the root.
  private var paths: Set<[[UInt8]]> = []
  private var patterns: [PlacedPattern] = []

  mutating func add(_ output: FileLook.Item, in folder: String) {
    switch output {
    case .path(let path): paths.insert(DeclaringTask.names(path, in: folder))
    case .glob(let text):
      if let pattern = PlacedPattern(text, in: folder) { patterns.append(pattern) }
    }
  }

  /// The path is an output or lies in one.
  func contains(_ path: [UInt8], in folder: String) -> Bool {
    let names = DeclaringTask.names(path, in: folder)
    for count in names.indices where paths.contains(Array(names[...count])) { return true }
    return patterns.contains { $0.covers(names) }
  }
}
