internal import OpflowPlan

/// The outputs that a task's cached result must contain; nothing else may be in it.
struct CachedOutputs {
  private let project: String
  private var declared = DeclaredOutputs()
  /// Split into names, from the root.
  private var paths: [[[UInt8]]] = []
  private var patterns: [PlacedPattern] = []

  init(_ declaring: DeclaringTask) {
    self.init(
      project: declaring.plan.string(declaring.plan.manifest.folder), folder: declaring.folder,
      declaring.outputs)
  }

  init(project: String, folder: String, _ outputs: [FileLook.Item]) {
    self.project = project
    for output in outputs {
      declared.add(output, in: folder)
      switch output {
      case .path(let path): paths.append(DeclaringTask.names(path, in: folder))
      case .glob(let text):
        if let pattern = PlacedPattern(text, in: folder) { patterns.append(pattern) }
      }
    }
  }

  /// Whether the items cover all outputs and are only outputs, at possible places.
  func areAll(_ items: [CacheEntry.Item]) -> Bool {
    var places: Set<[[UInt8]]> = []
    var folders: Set<[[UInt8]]> = []
    for item in items where item.kind.isOfProject {
      guard declared.contains(item.name, in: project) else { return false }
      let names = DeclaringTask.names(item.name, in: project)
      places.insert(names)
      if item.kind == .folder { folders.insert(names) }
    }
    // Files and links must not have items below them.
    for names in places {
      for count in names.indices.dropFirst() {
        let above = Array(names[..<count])
        if places.contains(above), !folders.contains(above) { return false }
      }
    }
    return paths.allSatisfy { places.contains($0) }
      && patterns.allSatisfy { pattern in
        let wanted = pattern.pattern.fitsFolders ? folders : places.subtracting(folders)
        return wanted.contains { pattern.matches($0) }
      }
  }
}
