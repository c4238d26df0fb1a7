internal import OpflowCore

/// The tasks of one manifest file or matrix.
struct JUnitSuite {
  /// Manifest, includes and matrix, separated by dots like packages and classes.
  let name: String
  private(set) var tasks: [TaskID] = []
  private(set) var failures = 0
  private(set) var errors = 0
  private(set) var skipped = 0
  private(set) var microseconds: Int64 = 0

  private init(name: String) { self.name = name }

  private mutating func add(_ task: TaskID, _ status: RunStatus) {
    tasks.append(task)
    microseconds = microseconds.plus(status.history[task].wallMicroseconds)
    switch TaskVerdict(task, status) {
    case .passed: break
    case .failure: failures += 1
    case .error: errors += 1
    case .skipped: skipped += 1
    }
  }

  /// In the order of their first tasks.
  static func all(_ status: RunStatus) -> [JUnitSuite] {
    let plan = status.plan
    var suites: [JUnitSuite] = []
    var places: [String: Int] = [:]
    var last: (prefix: [UInt8], family: FamilyID?, place: Int)?
    for task in plan.tasks.lazy.map({ TaskID($0) }) where status.included.contains(task) {
      let family = plan.family(of: task)
      let name = plan.nameBytes(task)
      let prefix = prefix(of: name)
      if let last, last.family == family, last.prefix.elementsEqual(prefix) {
        suites[last.place].add(task, status)
        continue
      }
      var title = status.name
      let parts = family.map { plan.familyName($0) } ?? String(decoding: prefix, as: UTF8.self)
      for part in parts.split(separator: "/") { title += "." + part }
      let place = places[title] ?? suites.count
      if place == suites.count {
        suites.append(JUnitSuite(name: title))
        places[title] = place
      }
      suites[place].add(task, status)
      last = (Array(prefix), family, place)
    }
    return suites
  }

  /// Up to the last slash outside of matrix values.
  private static func prefix(of name: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
    let end = name.firstIndex(of: UInt8(ascii: "[")) ?? name.endIndex
    return name[..<(name[..<end].lastIndex(of: UInt8(ascii: "/")) ?? name.startIndex)]
  }
}
