internal import OpflowBase
package import OpflowJournal
internal import OpflowPlan
internal import OpflowViews

/// A run as JUnit XML, in the dialect of Jenkins' schema (xunit plugin, junit-10.xsd) and GitLab: a
/// suite per manifest file and matrix, a test per task. Produced in pieces, to save memory.
///
/// Earlier attempts are a `flakyFailure` of a success, or a `rerunFailure`. GitLab shows only the
/// text of `failure` and `error`, so output is there. It merges tests of equal class and name; task
/// IDs are unique.
package struct JUnitReport {
  private let status: RunStatus
  private let suites: [JUnitSuite]
  private let output: OutputSource
  private var xml = MarkupWriter()
  private var next = (suite: 0, test: 0)
  private var isBegun = false
  private var outputRoom = 32 << 20

  private static let outputBytes = 65_536
  private static let briefBytes = 2048
  private static let pieceBytes = 65_536

  package init(_ status: RunStatus, output: @escaping OutputSource) {
    self.status = status
    self.output = output
    suites = JUnitSuite.all(status)
  }

  package mutating func nextPiece() -> [UInt8]? {
    if !isBegun { begin() }
    while next.suite < suites.count, xml.bytes.count < Self.pieceBytes { writeNext() }
    if next.suite == suites.count {
      xml.add(suites.isEmpty ? "/>\n" : "\n</testsuites>\n")
      next.suite += 1
    }
    return xml.bytes.count == 0 ? nil : xml.take()
  }

  private mutating func begin() {
    isBegun = true
    let tests = suites.reduce(0) { $0 + $1.tasks.count }
    let failures = suites.reduce(0) { $0 + $1.failures }
    let errors = suites.reduce(0) { $0 + $1.errors }
    let time = Self.seconds(status.sessionsMilliseconds(at: status.lastMilliseconds))
    xml.add(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <testsuites name="\(status.name)" tests="\(tests)" failures="\(failures)" \
      errors="\(errors)" time="\(time)"
      """)
    if !suites.isEmpty { xml.add(">") }
  }

  private mutating func writeNext() {
    let suite = suites[next.suite]
    if next.test == 0 { begin(suite) }
    write(suite.tasks[next.test], of: suite)
    next.test += 1
    if next.test < suite.tasks.count { return }
    xml.add("\n  </testsuite>")
    next = (next.suite + 1, 0)
  }

  private mutating func begin(_ suite: JUnitSuite) {
    let time = Self.seconds(microseconds: suite.microseconds)
    let began = UTCText.text(milliseconds: status.openedMilliseconds)
    xml.add(
      """

        <testsuite name="\(suite.name)" tests="\(suite.tasks.count)" \
      failures="\(suite.failures)" errors="\(suite.errors)" skipped="\(suite.skipped)" \
      time="\(time)" timestamp="\(began)"
      """)
    if let host = host(of: suite) { xml.add(" hostname=\"\(CleanText.string(host))\"") }
    xml.add(
      """
      >
          <properties>
            <property name="opflow.run" value="\(status.run)"/>
          </properties>
      """)
  }

  private func host(of suite: JUnitSuite) -> String? {
    if status.history.nodes.all.isEmpty { return nil }
    var host: String?
    for task in suite.tasks where status.history[task].startSequence > 0 {
      guard let own = status.history.node(of: task)?.host, own == host ?? own else {
        return nil
      }
      host = own
    }
    return host
  }

  private mutating func write(_ task: TaskID, of suite: JUnitSuite) {
    let name = status.plan.nameBytes(task)
    let time = Self.seconds(microseconds: status.history[task].wallMicroseconds)
    xml.add("\n    <testcase classname=\"\(suite.name)\" name=\"\(name)\" time=\"\(time)\"")
    let parts = parts(of: task)
    if parts.isEmpty { return xml.add("/>") }
    xml.add(">")
    xml.embed(parts)
    xml.add("\n    </testcase>")
  }

  private mutating func parts(of task: TaskID) -> [UInt8] {
    let record = status.history[task]
    let verdict = TaskVerdict(task, status)
    var xml = MarkupWriter()
    let (type, message) = TaskVerdict.reason(task, status)
    switch verdict {
    case .passed: break
    case .skipped: xml.add("\n      <skipped message=\"\(message)\" type=\"\(type)\"/>")
    case .failure, .error:
      let name = verdict == .failure ? "failure" : "error"
      xml.add("\n      <\(name) message=\"\(message)\" type=\"\(type)\">\(message)\n")
      writeOutput(of: task, attempt: record.attempts, into: &xml)
      xml.add("</\(name)>")
    }
    for failed in status.history.details.failedTries[task] ?? [] where verdict != .skipped {
      let name = verdict == .passed ? "flakyFailure" : "rerunFailure"
      let type = TaskVerdict.word(failed.outcome)
      xml.add("\n      <\(name) message=\"attempt \(Int(failed.attempt)): \(failed.text)\" ")
      xml.add("type=\"\(type)\"/>")
    }
    if verdict == .passed, record.isRestored {
      xml.add("\n      <system-out>restored from the cache\n</system-out>")
    }
    return xml.bytes
  }

  private mutating func writeOutput(
    of task: TaskID, attempt: Int32, into xml: inout MarkupWriter
  ) {
    let most = outputRoom > 0 ? Self.outputBytes : Self.briefBytes
    guard attempt > 0, let output = output(task, most) else { return }
    let (bytes, isWhole) = output.tail(attempt: attempt)
    outputRoom -= bytes.count
    if !isWhole { xml.add("(the last \(bytes.count) bytes; full log: \(output.path))\n") }
    for line in LineSlices(bytes) { xml.line(line) }
  }

  private static func seconds(microseconds: Int64) -> String { seconds(microseconds / 1000) }

  private static func seconds(_ milliseconds: Int64) -> String {
    let milliseconds = max(0, milliseconds)
    let rest = "\(milliseconds % 1000)"
    let zeros = String(repeating: "0", count: 3 - rest.utf8.count)
    return "\(milliseconds / 1000).\(zeros)\(rest)"
  }
}

struct JUnitSuite {
  /// Manifest, includes and matrix, separated by dots.
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

  static func all(_ status: RunStatus) -> [JUnitSuite] {
    let plan = status.plan
    var suites: [JUnitSuite] = []
    var places: [String: Int] = [:]
    var last: (prefix: [UInt8], matrixGroup: MatrixGroupID?, place: Int)?
    for task in plan.tasks.lazy.map({ TaskID($0) }) where status.included.contains(task) {
      let matrixGroup = plan.matrixGroup(of: task)
      let name = plan.nameBytes(task)
      let prefix = prefix(of: name)
      if let last, last.matrixGroup == matrixGroup, last.prefix.elementsEqual(prefix) {
        suites[last.place].add(task, status)
        continue
      }
      var title = status.name
      let parts =
        matrixGroup.map { plan.matrixGroupName($0) } ?? String(decoding: prefix, as: UTF8.self)
      for part in parts.split(separator: "/") { title += "." + part }
      let place = places[title] ?? suites.count
      if place == suites.count {
        suites.append(JUnitSuite(name: title))
        places[title] = place
      }
      suites[place].add(task, status)
      last = (Array(prefix), matrixGroup, place)
    }
    return suites
  }

  private static func prefix(of name: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
    let end = name.firstIndex(of: UInt8(ascii: "[")) ?? name.endIndex
    return name[..<(name[..<end].lastIndex(of: UInt8(ascii: "/")) ?? name.startIndex)]
  }
}
