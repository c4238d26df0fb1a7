import OpflowBase
import OpflowManifest
import OpflowPlan
import Testing

/// A manifest in one piece, and the same one task after the other.
struct GrowthPropertyTests {
  /// A task as a manifest has it.
  private struct Task {
    var name: String
    var keys: [String]
    var isService = false
    var isFinally = false
    var axis: [String]?
    var leavesValue = false

    var line: String { "  \(name): { \(keys.joined(separator: ", ")) }" }
  }

  private static let common = """
    vars: { v: "1" }
    env: { A: "${{ vars.v }}" }
    defaults: { retry: { max: 1, exit_codes: [75] }, stop: { grace: 2s } }
    tasks:

    """
  private static let top = """
    max_parallel: 3
    resources: { net: 3, db: 1.5 }
    secrets: { TOKEN: { env: CI_TOKEN } }

    """

  private static func tasks(_ numbers: inout SplitMix64) -> [Task] {
    var tasks: [Task] = []
    for index in 0..<Int.random(in: 2...14, using: &numbers) {
      var task = Task(name: "t\(index)", keys: [])
      let kind = Int.random(in: 0..<10, using: &numbers)
      if kind < 8, index > 0 { task.isFinally = Int.random(in: 0..<9, using: &numbers) == 0 }
      switch kind {
      case 0: task.keys = ["download: { url: 'http://h/\(index)', to: d/\(index) }"]
      case 1: task.keys = ["run: [x, '\(index)']", "dir: sub"]
      case 2, 3:
        let values = ["a", "b", "c c"].prefix(Int.random(in: 1...3, using: &numbers))
        task.axis = Array(values)
        task.keys = ["matrix: { n: [\(values.joined(separator: ", "))] }"]
        task.keys.append("run: 'echo ${{ matrix.n }} > $OPFLOW_VALUES/n'")
        task.leavesValue = true
      case 8:
        task.isService = true
        task.keys = [
          "run: s\(index)", "service: { ready: { file: r\(index) }, ports: [p\(index)] }",
        ]
      case 9: task.keys = ["approve: 'is \(index) right?'"]
      default:
        task.keys = ["run: 'echo \(index) ${{ run.id }} > $OPFLOW_VALUES/n'"]
        task.leavesValue = true
      }
      if task.isFinally { task.keys.append("finally: true") }
      addNeeds(to: &task, tasks, isQuestion: kind == 9, &numbers)
      addSettings(to: &task, kind, &numbers)
      tasks.append(task)
    }
    return tasks
  }

  private static func addNeeds(
    to task: inout Task, _ earlier: [Task], isQuestion: Bool, _ numbers: inout SplitMix64
  ) {
    var needs: [String] = []
    var read: [String] = []
    for need in earlier where Int.random(in: 0..<3, using: &numbers) == 0 {
      if need.isFinally && !task.isFinally || need.isService && isQuestion { continue }
      var name = need.name
      if let own = task.axis, let axis = need.axis, axis.count >= own.count,
        Bool.random(using: &numbers)
      {
        name = "'\(name)[n]'"
      } else if need.axis != nil, Bool.random(using: &numbers) {
        name = "'\(name)[n=a]'"
      }
      let condition = NeedCondition.allCases.randomElement(using: &numbers) ?? .success
      if !need.isService, Bool.random(using: &numbers) {
        name = "{ task: \(name), on: \(condition) }"
      }
      needs.append(name)
      if need.leavesValue, !task.isService, !isQuestion, !task.keys[0].hasPrefix("download"),
        Bool.random(using: &numbers)
      {
        read.append("V\(read.count): '${{ needs.\(need.name).n }}'")
      }
    }
    if !needs.isEmpty { task.keys.append("needs: [\(needs.joined(separator: ", "))]") }
    if !read.isEmpty { task.keys.append("env: { \(read.joined(separator: ", ")) }") }
  }

  private static func addSettings(
    to task: inout Task, _ kind: Int, _ numbers: inout SplitMix64
  ) {
    func maybe(_ key: String) { if Bool.random(using: &numbers) { task.keys.append(key) } }
    maybe("priority: \(Int.random(in: -3...3, using: &numbers))")
    maybe("tags: [x, \(task.name)]")
    maybe("desc: what \(task.name) does")
    if kind == 9 || kind == 8 || kind == 0 { return }
    maybe("allow_failure: [3]")
    maybe("resources: { net: 2, db: 0.5 }")
    maybe("secrets: [TOKEN]")
    maybe("timeout: 3m")
    if task.axis == nil, !task.isFinally {
      maybe("outputs: [o/\(task.name)]")
      maybe("inputs: [i/\(task.name), { env: CC }]")
    }
  }

  private static func text(_ tasks: some Sequence<Task>) -> String {
    common + tasks.map(\.line).joined(separator: "\n")
  }

  @Test(arguments: 0..<250)
  func `parts that are added make what the whole makes`(_ seed: UInt64) throws {
    var numbers = SplitMix64(seed: seed)
    let tasks = Self.tasks(&numbers)
    let whole = try plan(Self.top + Self.text(tasks))
    var ends = (0..<Int.random(in: 1...4, using: &numbers))
      .map { _ in Int.random(in: 1...tasks.count, using: &numbers) }
    ends.sort()
    var run = try GrowingRun(Self.top + Self.text(tasks[..<ends[0]]))
    for (start, end) in zip(ends, ends.dropFirst() + [tasks.count]) {
      // Some tasks are added again.
      let again = tasks[..<start].filter { _ in Int.random(in: 0..<6, using: &numbers) == 0 }
      if again.isEmpty && start == end { continue }
      let segment = try run.add(Self.text(again + tasks[start..<end]))
      #expect(segment.unchanged == again.map(\.name))
      #expect((segment.added == nil) == (start == end))
    }
    #expect(Self.description(run.plan) == Self.description(whole), "\(Self.text(tasks))")
  }

  private static func description(_ plan: Plan) -> [String] {
    plan.tasks.map { index in
      let task = TaskID(index)
      func texts(_ list: Column<TextRef>) -> [String] { list.map { plan.string($0) } }
      let record = plan.record(task)
      let policy = plan.policy(task)
      let needs = plan.needs(task).map {
        "\(plan.nameString(TaskID(plan.needTargets[$0])))/\(plan.needCondition($0))"
      }
      let dependents = plan.dependents(task).map {
        "\(plan.nameString(plan.dependent($0)))/\(plan.dependentCondition($0))"
      }
      let environment = plan.environmentList(record.environment).map {
        "\(plan.string($0.name))=\(plan.string($0.value))"
      }
      var parts: [String] = [
        plan.nameString(task), "\(plan.kind(task)) \(plan.flags(task)) \(plan.priority[index])",
        "\(plan.fingerprint(task))", "needs \(needs.sorted())", "for \(dependents.sorted())",
        "reads \(plan.valueSources(of: task).map { plan.nameString($0) }.sorted())",
        "\(plan.demandList(plan.demand[index]).map { "\($0.resource) \($0.amount)" })",
        "\(policy.timeoutMilliseconds) \(policy.retryMax) \(policy.stopGraceMilliseconds)",
        "\(Array(plan.codeList(policy.retryCodes))) \(Array(plan.codeList(record.allowedCodes)))",
        plan.string(record.script), plan.string(record.directory), plan.description(of: task),
        "\(texts(record.words == 0 ? plan.list(0) : plan.list(record.words)))",
        "\(texts(plan.list(record.shell))) \(texts(plan.texts(.tags, of: task)))", "\(environment)",
        "\(plan.secretNames(task)) \(plan.inputs(of: task)) \(plan.outputs(of: task))",
      ]
      if plan.kind(task) == .download { parts.append("\(plan.download(task))") }
      if plan.isService(task) {
        parts.append("\(plan.readiness(of: task)) \(plan.portNames(of: task))")
      }
      if let matrixGroup = plan.matrixGroup(of: task) {
        parts.append("\(plan.matrixGroupName(matrixGroup)) \(texts(plan.axes(matrixGroup)))")
        parts.append("\(texts(plan.instanceValues(task, of: matrixGroup)))")
      }
      return parts.joined(separator: "; ")
    }
  }
}
