internal import OpflowBase
package import OpflowPlan
internal import OpflowSystem

/// Scans the input files of a plan's tasks repeatedly, without declared outputs and the state
/// folder.
package struct InputsScan {
  private struct Seen: Equatable {
    let kind: SeenFile.Kind
    let content: PlanKey
  }

  /// Items of one base folder.
  private struct Place {
    let folder: String
    let items: [FileScan.Item]
    /// Sorted by path; files with the same stamp are not read again.
    var files = SeenFiles()
    var links: [SeenFile] = []
    var targetFolders: Set<[UInt8]> = []
  }

  private var project = ""
  private var places: [Place] = []
  private var outputs = DeclaredOutputs()
  private let hashes = FileMemory(.quick)
  private var key: PlanKey?
  private var taskCount = 0
  /// By absolute path; a link's key has a zero appended.
  private var seen: [[UInt8]: Seen] = [:]

  package init() {}

  /// At the last scan.
  package var fileCount: Int { seen.count { $0.key.last != 0 && $0.value.kind != .folder } }

  /// Folders in which changes may matter.
  package var folders: Set<String> {
    Set(
      places.map(\.folder)
        + places.flatMap(\.targetFolders).map { DeclaringTask.readable($0) + "/" }
        + seen.map {
          let path = DeclaringTask.readable(Self.path($0.key))
          return $0.value.kind == .folder ? path : Path.parent(of: path)
        })
  }

  /// Watches tasks for which `isOfRun` is true. New inputs count as unchanged.
  package mutating func follow(_ plan: Plan, state: String, where isOfRun: (TaskID) -> Bool) {
    // A grown plan keeps its key.
    if key == plan.key, taskCount == plan.taskCount { return }
    (key, taskCount) = (plan.key, plan.taskCount)
    let records = RecordPlace(plan, state: state)
    project = plan.string(plan.manifest.folder)
    outputs = DeclaredOutputs()
    outputs.add(.path(state), in: "/")
    if let linked = records.linkedState { outputs.add(.path(linked), in: "/") }
    var items: [String: Set<FileScan.Item>] = [:]
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

  /// Since the last call.
  package mutating func takeChanges() -> [String] {
    let now = look()
    defer { seen = now }
    let changed = now.filter { seen[$0.key] != $0.value }.map(\.key)
    let all = changed + seen.keys.filter { now[$0] == nil }
    return Array(Set(all.map { NameCharacters.text(Self.path($0)) }))
  }

  /// Since the last `takeChanges`.
  package mutating func haveChanged() -> Bool { look() != seen }

  private static func path(_ key: [UInt8]) -> [UInt8] { key.last == 0 ? key.dropLast() : key }

  private mutating func look() -> [[UInt8]: Seen] {
    var now: [[UInt8]: Seen] = [:]
    for place in places.indices {
      var found = places[place]
      look(at: &found)
      places[place] = found
      let folder = Array((places[place].folder + "/").utf8)
      for file in places[place].files {
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

  /// Unreadable files count as unchanged.
  private func look(at place: inout Place) {
    if let look = look(at: place.items, of: place) {
      (place.files, place.links) = (look.files, Array(look.links))
      place.targetFolders = look.targetFolders
      return
    }
    // One bad item fails the whole scan, so scan each on its own.
    let looks = place.items.compactMap { look(at: [$0], of: place) }
    place.files = SeenFiles(looks.flatMap(\.files))
    place.links = looks.flatMap(\.links)
    place.targetFolders = looks.reduce(into: []) { $0.formUnion($1.targetFolders) }
  }

  private func look(at items: [FileScan.Item], of place: Place) -> FileScan? {
    do throws(ScanFault) {
      let outputs = outputs
      let isOutput = { (path: UnsafeRawBufferPointer) in
        outputs.contains(Array(path), in: place.folder)
      }
      let leftOut = LeftOut(path: isOutput, listed: isOutput) { real, _ in
        outputs.contains(real, in: "/")
      }
      let look = try FileScan(
        items, in: place.folder, memory: place.files, hashes: hashes,
        links: .followed(project: project, leftOut))
      while try !look.goOn(until: .max) {}
      return look
    } catch {
      return nil
    }
  }
}
