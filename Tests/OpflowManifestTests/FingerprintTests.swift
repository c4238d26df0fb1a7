import OpflowManifest
import OpflowPlan
import Testing

/// Changes that make a task a different one for a resume, and a plan a different one.
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

  @Test func `whose trace it is a part of does not`() throws {
    let traced = "env: { A: 1, B: 2, TRACEPARENT: '${{ env.HOME }}', TRACESTATE: x }"
    let task = Self.base.replacing("env: { A: 1, B: 2 }", with: traced)
    #expect(try fingerprint(task) == fingerprint(Self.base))
  }

  private static let hash = String(repeating: "a1", count: 32)
  private static let longHash = String(repeating: "cd", count: 64)
  /// A download's keys and others that a task may have, each with another value to change it to.
  private static let download: [(key: String, value: String, other: String)] = [
    ("url", "'http://h/x'", "'http://h/y'"), ("mirrors", "['http://m/x']", "['http://m/y']"),
    ("to", "x", "y"), ("sha256", "'\(hash)'", "'\(hash.uppercased().replacing("A", with: "D"))'"),
    ("sha512", "'\(longHash)'", "'\(longHash.replacing("c", with: "e"))'"), ("size", "1", "2"),
    ("headers", "{ A: b }", "{ A: c }"), ("mode", "'0644'", "'0600'"),
  ]

  private func fetch(
    changing changed: String? = nil, without left: String? = nil, rest: String = ""
  ) throws -> Fingerprint {
    let keys = Self.download.filter { $0.key != left }
      .map { "\($0.key): \($0.key == changed ? $0.other : $0.value)" }
    return try fingerprint("download: { \(keys.joined(separator: ", ")) }\(rest)")
  }

  @Test(arguments: download.map(\.key))
  func `a change of any key of a download is a change of the download`(_ key: String) throws {
    let old = try fetch()
    var others = [try fetch(changing: key)]
    if key != "url", key != "to" { others.append(try fetch(without: key)) }
    for new in others {
      #expect(new.whole != old.whole)
      #expect(new.changedPart(from: old) == .download)
      #expect(old.changedPart(from: new) == .download)
    }
  }

  @Test(arguments: [
    (", env: { A: 1 }", Fingerprint.Part.env), (", dir: other", .dir), (", needs: b", .needs),
    (", shell: bash", nil), (", priority: high, retry: 7", nil),
  ])
  func `a change of another key of a download is a change of that key`(
    _ rest: String, _ part: Fingerprint.Part?
  ) throws {
    #expect(try fetch(rest: rest).changedPart(from: fetch()) == part)
  }

  @Test func `how a download goes on and how fast does not decide what it fetches`() throws {
    let plain = "download: { url: 'http://h/x', to: x }"
    let tuned = "download: { url: 'http://h/x', to: x, resume: false, max_speed: 1MiB }"
    #expect(try fingerprint(plain) == fingerprint(tuned))
  }

  @Test func `a change of the kind of action is a change of run`() throws {
    let run = try fingerprint("run: make")
    let download = try fingerprint("download: { url: 'http://h/x', to: x }")
    #expect(download.changedPart(from: run) == .run)
    #expect(run.changedPart(from: download) == .run)
  }

  @Test func `every part has a task that closes it`() throws {
    let command = try fingerprint(Self.base + ", shell: bash").parts
    let download = try fetch(rest: ", env: { A: 1 }").parts
    for part in Fingerprint.Part.allCases where part != .values {
      #expect((command | download) >> (part.rawValue * 8) & 255 != 0, "\(part)")
    }
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

  @Test(arguments: [base, "run: make", "run: make, dir: /data/project/src", "run: make, dir: ../x"])
  func `a project that was moved has the same`(task: String) throws {
    let there = task.replacing("/data/project", with: "/elsewhere").replacing(
      "../x", with: "/data/x")
    #expect(try fingerprint(task) == fingerprint(there, folder: "/elsewhere"))
  }

  @Test(arguments: ["/data", "/data/project2", "/"])
  func `a folder outside the manifest's is another wherever that is`(folder: String) throws {
    #expect(
      try fingerprint("run: make, dir: /data/project/src")
        != fingerprint("run: make, dir: /data/project/src", folder: folder))
  }

  @Test func `where a download goes counts from the manifest's folder`() throws {
    let task = { (folder: String) in "download: { url: 'https://a/b', to: \(folder)/f }" }
    #expect(
      try fingerprint(task("/data/project")) == fingerprint(task("/else"), folder: "/else"))
    #expect(try fingerprint(task("/data/project")) != fingerprint(task("/else")))
  }

  /// Taken from the journal of opflow as it was when fingerprints held absolute paths.
  @Test func `those of an older opflow can be made to compare with`() throws {
    let text = """
      tasks:
        a: { run: "true" }
        b: { needs: [a], dir: sub, env: { A: 1 }, run: ["true"] }
      """
    var options = CompileOptions(
      runID: "r", opflowVersion: "1", cores: 8, memoryBytes: 16 << 30)
    options.fingerprints = .absolute
    let compiled = try ManifestCompiler.compile(
      ManifestSource(
        bytes: Array(text.utf8), displayPath: "m", path: "/tmp/gold/opflow.yaml",
        folder: "/tmp/gold", defaultName: "m"), options: options)
    let plan = try Plan(copying: compiled.planBytes)
    #expect(
      plan.fingerprint(try plan.id("a"))
        == Fingerprint(whole: 0x542b_c72b_3e8b_1b17, parts: 0xd9_1fc7_d9b4))
    #expect(
      plan.fingerprint(try plan.id("b"))
        == Fingerprint(whole: 0x7411_984a_8881_0269, parts: 0x68_c24f_8af1))
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
    let checked = try check(bytes: Array(text.utf8))
    #expect(checked.taskCount == 2)
    #expect(checked.needCount == 1)
    let ring = "tasks: { a: { run: x, needs: b }, b: { run: x, needs: a } }"
    #expect(
      throws: try #require(throws: ManifestError.self) { try compile(ring) }
    ) { try check(bytes: Array(ring.utf8)) }
  }
}
