import Fixtures
import OpflowPlan
import Testing

@Suite("What tasks declare, in a plan")
struct PlanDeclarationTests {
  private func maker() -> PlanMaker {
    var maker = PlanMaker()
    maker.add("plain")
    maker.add("build") {
      $0.inputs = [
        .path("main.c"), .glob("**/*.h"), .environment("CC"), .command(["gcc", "--version"]),
        .path("main.c"),
      ]
      $0.outputs = [.path("out/app"), .glob("out/*.map")]
    }
    maker.add("nothing") { $0.inputs = [] }
    maker.add("leaves", needs: ["build"]) { $0.outputs = [.path("out/app"), .glob("out/*.map")] }
    return maker
  }

  @Test func `what tasks declare comes out of a plan in its order`() throws {
    let plan = try maker().make()
    let tasks = plan.tasks.map { TaskID($0) }
    #expect(plan.hasChecks)
    #expect(tasks.map { plan.isChecked($0) } == [false, true, true, false])
    #expect(tasks.map { plan.declaresOutputs($0) } == [false, true, false, true])
    #expect(
      Array(plan.inputs(of: tasks[1])) == [
        .path("main.c"), .glob("**/*.h"), .environment("CC"), .command(["gcc", "--version"]),
        .path("main.c"),
      ])
    #expect(Array(plan.outputs(of: tasks[1])) == [.path("out/app"), .glob("out/*.map")])
    #expect(Array(plan.outputs(of: tasks[3])) == [.path("out/app"), .glob("out/*.map")])
    for task in [0, 2, 3] { #expect(plan.inputs(of: tasks[task]).isEmpty) }
    for task in [0, 2] { #expect(plan.outputs(of: tasks[task]).isEmpty) }
  }

  @Test func `a plan in which nobody declares inputs has no checks`() throws {
    var maker = PlanMaker()
    maker.add("a")
    maker.add("b") { $0.outputs = [.path("b")] }
    let plan = try maker.make()
    #expect(!plan.hasChecks && plan.declaresOutputs(TaskID(1)))
  }

  @Test func `equal lists of several tasks stand in a plan once`() throws {
    func byteCount(_ taskCount: Int, ofTheirOwn: Bool) throws -> Int {
      var maker = PlanMaker()
      for task in 0..<taskCount {
        maker.add("task\(task)") {
          $0.inputs = (0..<100).map { .path("file\(ofTheirOwn && $0 == 0 ? task : $0)") }
        }
      }
      return try maker.bytes().count
    }
    let shared = try byteCount(100, ofTheirOwn: false)
    let own = try byteCount(100, ofTheirOwn: true)
    #expect(own - shared > 99 * 100 * 16)
    #expect(try byteCount(101, ofTheirOwn: false) - shared < 400)
  }

  private func digest(_ inputs: [InputEntry]?, _ outputs: [OutputEntry]) throws -> UInt64 {
    var maker = PlanMaker()
    maker.add("a") { ($0.inputs, $0.outputs) = (inputs, outputs) }
    return try maker.make().declarationDigest(TaskID(0))
  }

  @Test func `the digest tells outputs, variables and commands, and not how files are named`()
    throws
  {
    let inputs: [InputEntry] = [.path("a"), .environment("CC"), .command(["cc", "-v"])]
    let outputs: [OutputEntry] = [.path("x"), .path("y")]
    let first = try digest(inputs, outputs)
    #expect(
      try digest([.glob("*"), .command(["cc", "-v"]), .environment("CC")], outputs) == first)
    #expect(try digest(inputs, outputs.reversed()) == first)
    let others = [
      try digest(inputs, [.path("x")]), try digest(inputs, [.path("x"), .glob("y")]),
      try digest(inputs, [.path("xy")]), try digest([.environment("CC")], outputs),
      try digest([.environment("CC"), .command(["cc-v"])], outputs),
      try digest([.environment("CC"), .command(["-v", "cc"])], outputs),
      try digest([.path("x"), .path("y")], []), try digest([.environment("x")], []),
      try digest([], [.path("x")]), first,
    ]
    #expect(Set(others).count == others.count)
    #expect(try digest(nil, []) == 0)
  }

  private typealias Change = (String, PlanSection, Bool, @Sendable (inout PlanPatch) -> Void)

  /// A change under a checksum that holds, the section that it makes unsound, and whether the
  /// worker that runs the task `build` sees it too.
  private static let unsound: [Change] = [
    (
      "declared by nobody", .declarations, true,
      { $0.set(.declarations, 0, to: Int32.max) }
    ),
    ("declared by less than nobody", .declarations, true, { $0.set(.declarations, 0, to: -1) }),
    ("declared twice", .declarations, false, { $0.set(.declarations, 1, to: Int32(1)) }),
    (
      "a list that is not there", .declarations, true,
      { $0.set(.declarations, 0, field: 4, to: UInt32.max) }
    ),
    (
      "outputs that are not there", .declarations, true,
      { $0.set(.declarations, 0, field: 8, to: UInt32(99)) }
    ),
    (
      "outputs of a task that says it has none", .declarations, true,
      { $0.set(.taskFlags, 1, to: TaskFlags.checked.rawValue) }
    ),
    (
      "inputs of a task that says it has none", .declarations, true,
      { $0.set(.taskFlags, 1, to: TaskFlags.declaresOutputs.rawValue) }
    ),
    (
      "a task that says it declares and does not", .declarations, false,
      { $0.set(.taskFlags, 0, to: TaskFlags.checked.rawValue) }
    ),
    ("checks that nobody knows of", .taskFlags, true, { $0.setNoChecks() }),
    (
      "a download with inputs", .taskFlags, true,
      { $0.set(.taskKind, 1, to: ActionKind.download.rawValue) }
    ),
    (
      "a `finally` task with inputs", .taskFlags, true,
      {
        let flags: TaskFlags = [.checked, .declaresOutputs, .finally]
        $0.set(.taskFlags, 1, to: flags.rawValue)
      }
    ),
    (
      "lists that end before they begin", .declaredOffsets, true,
      { $0.set(.declaredOffsets, 2, to: UInt32(99)) }
    ),
    ("an entry of no kind", .declaredItems, true, { $0.set(.declaredItems, 0, to: UInt32(4)) }),
    (
      "a path that leaves the arena", .declaredItems, true,
      { $0.set(.declaredItems, 0, field: 4, to: UInt32.max) }
    ),
    (
      "a path without a byte", .declaredItems, true,
      { $0.set(.declaredItems, 0, field: 8, to: UInt32(0)) }
    ),
    (
      "a command without a word", .declaredItems, true,
      { $0.set(.declaredItems, 3, field: 12, to: UInt32(0)) }
    ),
    (
      "words that are not there", .declaredItems, true,
      { $0.set(.declaredItems, 3, field: 12, to: UInt32.max) }
    ),
    (
      "a variable that is left", .declaredItems, true,
      { $0.set(.declaredItems, 5, to: DeclaredItem.Kind.environment.rawValue) }
    ),
  ]

  @Test(arguments: unsound.indices)
  func `a declaration that is none is refused, by a worker too`(_ number: Int) throws {
    let (detail, section, isSeenByWorker, change) = Self.unsound[number]
    var patch = PlanPatch(try maker().bytes())
    #expect(patch.verdict == nil)
    change(&patch)
    #expect(patch.verdict == .reference(section), "\(detail)")
    let plan = try Plan(copying: patch.bytes)
    if isSeenByWorker {
      #expect(throws: PlanError.reference(section), "\(detail)") { try plan.validate(TaskID(1)) }
    } else {
      try plan.validate(TaskID(1))
    }
  }

  @Test func `no number in what is declared leads a reader out of the plan`() throws {
    let bytes = try maker().bytes()
    for place in stride(from: 64 + PlanSection.allCases.count * 24, to: bytes.count - 4, by: 4) {
      for value in [0, 1, 7, 0x7fff_ffff, UInt32.max] {
        var patch = PlanPatch(bytes)
        patch.set(byte: place, to: value)
        guard let plan = try? Plan(copying: patch.bytes) else { continue }
        if (try? plan.validate(TaskID(1))) != nil { readAll(plan, TaskID(1)) }
        if patch.verdict == nil { for task in plan.tasks { readAll(plan, TaskID(task)) } }
      }
    }
  }

  private func readAll(_ plan: Plan, _ task: TaskID) {
    for case .command(let words) in plan.inputs(of: task) { #expect(!words.isEmpty) }
    _ = Array(plan.outputs(of: task))
    _ = plan.declarationDigest(task)
  }
}

extension PlanPatch {
  fileprivate mutating func setNoChecks() {
    // Behind three texts and seven numbers.
    set(.manifest, 0, field: 52, to: UInt32(0))
  }
}
