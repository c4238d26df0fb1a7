import OpflowCore
import OpflowManifest
import Testing

/// What makes a task another one for a resume, and a plan another one.
struct FingerprintTests {
  private func fingerprint(
    _ task: String, top: String = "", runID: String = "run-1", folder: String = "/data/project"
  ) throws -> Fingerprint {
    let plan = try plan(
      "\(top)\ntasks:\n  b: { run: x }\n  c: { run: x }\n  a: { \(task) }\n", runID: runID,
      folder: folder)
    return plan.fingerprint(try plan.id("a"))
  }

  private static let base = "run: make, env: { A: 1, B: 2 }, dir: src, needs: [b, c]"

  @Test(arguments: [
    ("run: make all, env: { A: 1, B: 2 }, dir: src, needs: [b, c]", Fingerprint.Part.run),
    ("run: [make], env: { A: 1, B: 2 }, dir: src, needs: [b, c]", .run),
    ("run: make, env: { A: 1, B: 3 }, dir: src, needs: [b, c]", .env),
    ("run: make, env: { A: 1 }, dir: src, needs: [b, c]", .env),
    ("run: make, env: { A: 1, B: 2 }, dir: lib, needs: [b, c]", .dir),
    ("run: make, env: { A: 1, B: 2 }, dir: src, needs: [b, c], shell: bash", .shell),
    ("run: make, env: { A: 1, B: 2 }, dir: src, needs: [b]", .needs),
    ("run: make, env: { A: 1, B: 2 }, dir: src, needs: [b, { task: c, on: finished }]", .needs),
  ])
  func `what decides the result changes it`(_ task: String, _ part: Fingerprint.Part) throws {
    let old = try fingerprint(Self.base)
    let new = try fingerprint(task)
    #expect(old.whole != new.whole)
    #expect(new.changedPart(from: old) == part)
  }

  @Test(arguments: [
    "\(base), priority: high", "\(base), timeout: 5s", "\(base), retry: 3",
    "\(base), resources: { cpu: 2 }", "\(base), desc: text, tags: [x]", "\(base), finally: false",
    "\(base), allow_failure: true", "run: make, env: { B: 2, A: 1 }, dir: ./src/, needs: [c, b]",
  ])
  func `what does not decide the result leaves it`(_ task: String) throws {
    #expect(try fingerprint(task) == fingerprint(Self.base))
  }

  @Test func `defaults count as if the task had them`() throws {
    let top = "env: { A: 1 }\ndefaults: { env: { B: 2 }, dir: src }"
    #expect(
      try fingerprint("run: make, needs: [b, c]", top: top) == fingerprint(Self.base))
  }

  @Test func `the run's id counts as a constant`() throws {
    let task = "run: 'echo ${{ run.id }}', env: { R: '${{ run.id }}' }, dir: 'd-${{ run.id }}'"
    #expect(try fingerprint(task, runID: "r1") == fingerprint(task, runID: "r2"))
    let text = "tasks: { a: { run: 'echo ${{ run.id }}' } }"
    let plan = try plan(text, runID: "r7")
    #expect(try plan.scriptText("a") == "echo r7")
    #expect(plan.manifest.usesRunID == 1)
    #expect(try compile(text, runID: "r1").planKey != compile(text, runID: "r2").planKey)
  }

  @Test func `a plan's key tells all that it was made from`() throws {
    let text = "vars: { v: 1 }\ntasks: { a: { run: 'echo ${{ env.CI }}' } }"
    let key = try compile(text).planKey
    #expect(try compile(text, runID: "other").planKey == key)
    #expect(try compile(text, environment: [("OTHER", "x")]).planKey == key)
    #expect(try compile(text, environment: [("CI", "")]).planKey != key)
    #expect(try compile(text, variables: [("v", "1")]).planKey != key)
    #expect(try compile(text, folder: "/other").planKey != key)
    #expect(try compile(text + "\n").planKey != key)
    #expect(try plan(text).key == key)
  }

  @Test func `a check makes no plan and finds the same`() throws {
    let text = "tasks: { a: { run: x }, b: { run: x, needs: a } }"
    let checked = try compile(text, wantsPlan: false)
    #expect(checked.planBytes.isEmpty)
    #expect(checked.taskCount == 2)
    #expect(checked.needCount == 1)
    let ring = "tasks: { a: { run: x, needs: b }, b: { run: x, needs: a } }"
    #expect(
      throws: try #require(throws: ManifestError.self) { try compile(ring) }
    ) { try compile(ring, wantsPlan: false) }
  }
}
