internal import OpflowCore

/// What a result of a task has to hold, and what alone it may.
struct CachedOutputs {
  private let project: String
  private var declared = DeclaredOutputs()
  /// Names from the root.
  private var paths: [[[UInt8]]] = []
  private var patterns: [PlacedPattern] = []

  init(_ declaring: DeclaringTask) {
    self.init(
      project: declaring.plan.string(declaring.plan.manifest.folder), folder: declaring.folder,
      declaring.outputs)
  }

  /// - Parameters:
  ///   - project: the manifest's folder.
  ///   - folder: the task's.
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

  /// Whether these are all of its outputs, each where there can be one.
  func areAll(_ items: [CacheEntry.Item]) -> Bool {
    var places: Set<[[UInt8]]> = []
    var folders: Set<[[UInt8]]> = []
    for item in items where item.kind.isOfProject {
      guard declared.contains(item.name, in: project) else { return false }
      let names = DeclaringTask.names(item.name, in: project)
      places.insert(names)
      if item.kind == .folder { folders.insert(names) }
    }
    // Nothing lies in a file, or in what a link leads to.
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
