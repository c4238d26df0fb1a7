package import OpflowCore
internal import OpflowSystem

/// Looks at the files that the tasks of a plan read, again and again, for who waits until they hold something
/// else. What tasks declare as outputs is left out, and so is the folder of the runs.
package struct InputsLook {
  private struct Seen: Equatable {
    let kind: SeenFile.Kind
    let content: PlanKey
  }

  /// What is looked at in one folder, each thing once.
  private struct Place {
    let folder: String
    let items: [FileLook.Item]
    /// As it was at the last look, sorted by path: what has the same stamp is not read again.
    var files: [SeenFile] = []
  }

  private var places: [Place] = []
  private var outputs = DeclaredOutputs()
  private let hashes = FileMemory(.quick)
  private var key: PlanKey?
  /// By path from the root.
  private var seen: [String: Seen] = [:]

  package init() {}

  /// How many files there were at the last look.
  package var fileCount: Int { seen.count }

  /// The folders in which something may change, as far as they are known.
  package var folders: Set<String> {
    Set(places.map(\.folder) + seen.keys.map { Path.parent(of: $0) })
  }

  /// Goes on with the inputs of another plan. What is new among them is as it is now.
  ///
  /// - Parameter state: the folder of the runs.
  package mutating func follow(_ plan: Plan, state: String) {
    if key == plan.key { return }
    key = plan.key
    let records = RecordPlace(plan, state: state)
    outputs = DeclaredOutputs()
    outputs.add(.path(state), in: "/")
    var items: [String: Set<FileLook.Item>] = [:]
    for number in plan.tasks {
      let declaring = DeclaringTask(plan: plan, task: TaskID(number), records: records)
      if plan.declaresOutputs(declaring.task) {
        for output in declaring.outputs { outputs.add(output, in: declaring.folder) }
      }
      guard plan.isChecked(declaring.task) else { continue }
      items[declaring.folder, default: []].formUnion(declaring.inputs)
    }
    places = items.map { Place(folder: $0.key, items: Array($0.value)) }
    let before = seen
    _ = takeChanges()
    for (path, earlier) in before where seen[path] != nil { seen[path] = earlier }
  }

  /// The paths of what is otherwise than at the last call.
  package mutating func takeChanges() -> [String] {
    let now = look()
    defer { seen = now }
    let changed = now.filter { seen[$0.key] != $0.value }.map(\.key)
    return changed + seen.keys.filter { now[$0] == nil }
  }

  /// Whether anything is otherwise than at the last call of `takeChanges`.
  package mutating func haveChanged() -> Bool { look() != seen }

  private mutating func look() -> [String: Seen] {
    var now: [String: Seen] = [:]
    for place in places.indices {
      let folder = places[place].folder
      if let files = look(at: places[place]) { places[place].files = files }
      for file in places[place].files where file.kind != .folder {
        let path = String(decoding: file.path, as: UTF8.self)
        now[path.hasPrefix("/") ? path : folder + "/" + path] = Seen(
          kind: file.kind, content: file.content)
      }
    }
    return now
  }

  /// Nil where it cannot be looked at: then nothing is known to have changed.
  private func look(at place: Place) -> [SeenFile]? {
    do throws(LookFault) {
      let look = try FileLook(
        place.items, in: place.folder, memory: place.files, hashes: hashes
      ) { [outputs] path in outputs.contains(path, in: place.folder) }
      while try !look.goOn(until: .max) {}
      return look.files
    } catch {
      return nil
    }
  }
}
