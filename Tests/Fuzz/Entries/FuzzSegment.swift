import OpflowPlan

/// Checks a plan segment with any bytes, as found in a run's folder, and the plan that it extends.
enum FuzzSegment {
  private static let run = """
    resources: { gpu: 2 }
    tasks:
      a: { run: "echo 1 > $OPFLOW_VALUES/v" }
      b: { run: [echo, "${{ needs.a.v }}"], needs: a, if: "needs.a.v != ''" }
      c: { run: x, needs: [{ task: b, on: finished }], control: true, resources: { gpu: 1 } }
      db: { service: true, run: x, needs: a }
      f: { run: x, matrix: { n: [1, 2] } }
      legs: { run: x, matrix: { x: { lines: list, after: b } } }
      last: { run: x, finally: true }
    """

  private static let segments = [
    "tasks: { new: { run: x } }",
    """
    tasks: { new: { run: x, needs: [a, { task: b, on: failure }] }, \
    more: { run: y, needs: [new, db] } }
    """,
    """
    tasks:
      legs2: { run: x, matrix: { m: [1, 2] }, needs: f, resources: { gpu: 0.5 } }
      read: { run: [echo, "${{ needs.a.v }}"], needs: [a, "f[n=1]"], inputs: [x], outputs: [y] }
      web: { service: { ports: [http] }, run: x, needs: db }
      use: { run: x, needs: [web, legs, a], if: "needs.a.v == 'x'" }
      end: { run: x, finally: true, needs: [{ task: use, on: ran }] }
    """,
    "tasks: { more: { run: x, matrix: { rows: { file: table.tsv, after: a } } } }",
  ]

  static func seeds() throws(FuzzFinding) -> [[UInt8]] {
    let run = try compiled.get()
    var seeds: [[UInt8]] = []
    for segment in segments { seeds.append(try PlanSeed.compile(segment, addedTo: run)) }
    return seeds
  }

  static func check(_ bytes: UnsafeRawBufferPointer) throws(FuzzFinding) {
    guard let segment = try? Plan(copying: FuzzPlan.withSoundHeader(bytes)),
      (try? segment.validate()) != nil, segment.taskCount <= 400
    else { return }
    var grown = GrownPlan(try compiled.get())
    // The second time, its tasks exist already.
    for _ in 0..<2 { try add(segment, to: &grown) }
  }

  private static func add(
    _ segment: Plan, to grown: inout GrownPlan
  ) throws(FuzzFinding) {
    let count = grown.plan.taskCount
    do throws(GrownPlanError) {
      try grown.add(segment)
    } catch {
      return
    }
    let plan = grown.plan
    try expect(plan.taskCount == count + segment.taskCount, "a task is lost")
    try FuzzPlan.readAll(plan)
    var run = PlanRun(plan)
    try run.toTheEnd()
  }

  /// The plan of the run, compiled once.
  private static let compiled = Result { () throws(FuzzFinding) -> Plan in
    let bytes = try PlanSeed.compile(run, addedTo: nil)
    guard let plan = try? Plan(copying: bytes) else {
      throw FuzzFinding("the plan of the run is none")
    }
    return plan
  }
}
