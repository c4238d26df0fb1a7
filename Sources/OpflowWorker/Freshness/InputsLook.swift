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
    var files = SeenFiles()
    var links: [SeenFile] = []
    /// In which what links lead to may change.
    var targetFolders: Set<[UInt8]> = []
  }

  private var project = ""
  private var places: [Place] = []
  private var outputs = DeclaredOutputs()
  private let hashes = FileMemory(.quick)
  private var key: PlanKey?
  private var taskCount = 0
  /// By path from the root, whose bytes count: two names may look the same. A zero stands behind a link's.
  private var seen: [[UInt8]: Seen] = [:]

  package init() {}

  /// How many files there were at the last look.
  package var fileCount: Int { seen.keys.count { $0.last != 0 } }

  /// The folders in which something may change, as far as they are known.
  package var folders: Set<String> {
    Set(
      places.map(\.folder)
        + places.flatMap(\.targetFolders).map { DeclaringTask.readable($0) + "/" }
        + seen.keys.map { Path.parent(of: DeclaringTask.readable(Self.path($0))) })
  }

  /// Goes on with the inputs of another plan. What is new among them is as it is now.
  ///
  /// - Parameters:
  ///   - state: the folder of the runs.
  ///   - isOfRun: whether what a task reads is looked at.
  package mutating func follow(_ plan: Plan, state: String, where isOfRun: (TaskID) -> Bool) {
    // One that has grown keeps its key.
    if key == plan.key, taskCount == plan.taskCount { return }
    (key, taskCount) = (plan.key, plan.taskCount)
    let records = RecordPlace(plan, state: state)
    project = plan.string(plan.manifest.folder)
    outputs = DeclaredOutputs()
    outputs.add(.path(state), in: "/")
    var items: [String: Set<FileLook.Item>] = [:]
    for number in plan.tasks {
      let declaring = DeclaringTask(plan: plan, task: TaskID(number), records: records)
      if plan.declaresOutputs(declaring.task) {
        for output in declaring.outputs { outputs.add(output, in: declaring.folder) }
      }
      guard plan.isChecked(declaring.task), isOfRun(declaring.task) else { continue }
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
    let all = changed + seen.keys.filter { now[$0] == nil }
    return Array(Set(all.map { NameCharacters.text(Self.path($0)) }))
  }

  /// Whether anything is otherwise than at the last call of `takeChanges`.
  package mutating func haveChanged() -> Bool { look() != seen }

  private static func path(_ key: [UInt8]) -> [UInt8] { key.last == 0 ? key.dropLast() : key }

  private mutating func look() -> [[UInt8]: Seen] {
    var now: [[UInt8]: Seen] = [:]
    for place in places.indices {
      var found = places[place]
      look(at: &found)
      places[place] = found
      let folder = Array((places[place].folder + "/").utf8)
      for file in places[place].files where file.kind != .folder {
        let isAbsolute = file.path.first == UInt8(ascii: "/")
        now[isAbsolute ? file.path : folder + file.path] = Seen(
          kind: file.kind, content: file.content)
      }
      for link in places[place].links {
        let isAbsolute = link.path.first == UInt8(ascii: "/")
        now[(isAbsolute ? link.path : folder + link.path) + [0]] = Seen(
          kind: link.kind, content: link.content)
      }
    }
    return now
  }

  /// What cannot be looked at is left as it was found last: of that nothing is known to have changed.
  private func look(at place: inout Place) {
    if let look = look(at: place.items, of: place) {
      (place.files, place.links) = (look.files, Array(look.links))
      place.targetFolders = look.targetFolders
      return
    }
    // One item is enough to see nothing of the others.
    let looks = place.items.compactMap { look(at: [$0], of: place) }
    place.files = SeenFiles(looks.flatMap(\.files))
    place.links = looks.flatMap(\.links)
    place.targetFolders = looks.reduce(into: []) { $0.formUnion($1.targetFolders) }
  }

  private func look(at items: [FileLook.Item], of place: Place) -> FileLook? {
    do throws(LookFault) {
      let outputs = outputs
      let leftOut = LeftOut { path in
        outputs.contains(Array(path), in: place.folder)
      } target: { real, _ in
        outputs.contains(real, in: "/")
      }
      let look = try FileLook(
        items, in: place.folder, memory: place.files, hashes: hashes,
        links: .followed(project: project, leftOut))
      while try !look.goOn(until: .max) {}
      return look
    } catch {
      return nil
    }
  }
}
