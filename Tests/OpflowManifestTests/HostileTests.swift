import OpflowBase
import OpflowManifest
import OpflowPlan
import Testing

/// Manifests that are made to do harm end in an error, never in a crash.
struct HostileTests {
  private func refusal(_ bytes: [UInt8]) -> String? {
    do {
      _ = try compile(bytes: bytes)
      return nil
    } catch {
      return error.diagnostics.first.map { "\($0.line):\($0.column): \($0.message)" }
    }
  }

  @Test(arguments: [
    (String(repeating: "[", count: 200_000), "1:65: nested deeper than 64 levels"),
    (String(repeating: "{", count: 200_000), "1:65: nested deeper than 64 levels"),
    (String(repeating: "- ", count: 200_000), "1:129: nested deeper than 64 levels"),
    (String(repeating: "? ", count: 200_000), "1:129: nested deeper than 64 levels"),
    (
      (0..<3000).map { String(repeating: " ", count: $0) + "a:\n" }.joined(),
      "65:65: nested deeper than 64 levels"
    ),
    (
      String(repeating: "%TAG !a! b\n", count: 200),
      "101:1: the manifest has more than a hundred `%` directives"
    ),
  ])
  func `nesting is bounded`(_ text: String, _ message: String) {
    #expect(refusal(Array(text.utf8)) == message)
  }

  @Test func `aliases that multiply are refused`() {
    var text = "x-a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for level in 1...8 {
      text += "x-a\(level): &a\(level) ["
      text += (0..<10).map { _ in "*a\(level - 1)" }.joined(separator: ", ") + "]\n"
    }
    text += "tasks: { a: { run: x } }\n"
    #expect(
      refusal(Array(text.utf8))
        == "7:47: aliases expand the manifest to more than ten million nodes")
  }

  @Test func `a chain of merges is as deep as any other nesting`() {
    var text = "x-0: &a0 { run: x }\n"
    for level in 1...100 { text += "x-\(level): &a\(level) { <<: *a\(level - 1) }\n" }
    text += "tasks: { a: *a100 }\n"
    #expect(refusal(Array(text.utf8)) == "64:18: nested deeper than 64 levels")
  }

  @Test func `a value without end is refused before it is collected`() {
    let bytes = Array("tasks: { a: { run: '".utf8) + [UInt8](repeating: 120, count: 40 << 20)
    #expect(
      refusal(bytes) == "1:15: a value or comment that begins after this is larger than 8 MiB")
  }

  @Test(
    arguments: [
      ([0x61, 0x3A, 0x20, 0xFF], "1:4"), ([0x61, 0x3A, 0x20, 0xC3], "1:4"),
      ([0xC3, 0xA4, 0x3A, 0x20, 0xED, 0xA0, 0x80], "1:4"), ([0xFE, 0x61, 0x00], "1:1"),
      ([0x61, 0x3A, 0x0A, 0x20, 0xC0, 0x80], "2:2"),
    ] as [([UInt8], String)])
  func `bytes that are not UTF-8 are refused at their place`(_ bytes: [UInt8], _ place: String) {
    #expect(refusal(bytes) == "\(place): the manifest is not valid UTF-8 here")
  }

  @Test func `more than fifty errors are counted`() throws {
    var text = "tasks:\n"
    for index in 0..<80 { text += "  t\(index): { run: x, foo: 1 }\n" }
    let error = try #require(throws: ManifestError.self) { try compile(text) }
    #expect(error.diagnostics.count == 50)
    #expect(error.errorCount == 80)
    #expect(error.diagnostics.map(\.line) == Array(2...51))
  }

  @Test func `a cycle of twenty thousand tasks is found and shown from its beginning`() throws {
    var text = "tasks:\n"
    for index in 0..<20_000 { text += "  t\(index): { run: x, needs: t\((index + 1) % 20_000) }\n" }
    let error = try #require(throws: ManifestError.self) { try compile(text) }
    #expect(error.errorCount == 1)
    #expect(error.diagnostics[0].message.hasSuffix("-> t19 -> … 19980 more … -> t0"))
  }

  private static let sample = #"""
    # A sample with every construct.
    version: 1
    name: "sample ${{ run.id }}"
    vars: { ver: 1.0, "q": 'it''s', b: "\u00e4${{ vars.ver }}" }
    env: &env { A: 1, B: "${{ vars.ver }}" }
    x-base: &base
      run: |
        echo ${{ task.id || 'x' }}
        echo two
      retry: { max: 1, delay: 1s }
    defaults: { shell: [bash, -c], env: { <<: *env, C: "${{ task.id }}" } }
    resources: { net: 2, memory: 1GiB }
    tasks:
      a: { <<: *base, needs: [b, { task: c, on: finished }], if: "env.A == '1' && !vars.b" }
      b: { run: [echo, "ä${{ vars.q }}"], priority: high, allow_failure: [1, 2] }
      c:
        <<: [*base]
        dir: ../x
        timeout: 1h30m
        stop: { signal: INT, grace: 1s }
        resources: { net: 1, memory: 2MiB }
      d:
        finally: true
        run: >-
          folded
          text
    """#

  @Test func `the sample is a good manifest`() throws {
    #expect(try plan(Self.sample).taskCount == 4)
  }

  @Test func `every beginning of a manifest is taken or refused`() {
    let bytes = Array(Self.sample.utf8)
    for length in 0..<bytes.count { check(Array(bytes[..<length])) }
  }

  @Test func `no change of a byte does harm`() {
    let bytes = Array(Self.sample.utf8)
    var random = SplitMix64(seed: 42)
    for _ in 0..<2000 {
      var changed = bytes
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: 0..<changed.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: changed[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: changed.remove(at: place)
        case 2:
          changed.insert(Self.marks.randomElement(using: &random) ?? 0, at: place)
        default:
          let other = Int.random(in: 0..<changed.count, using: &random)
          changed.swapAt(place, other)
        }
      }
      check(changed)
    }
  }

  private static let marks = Array("{}[]:,&*!|>'\"%@`#-?<=${()\n\t \u{0}".utf8)

  /// A manifest results in a valid plan, or in at least one error with a place.
  private func check(_ bytes: [UInt8]) {
    do {
      let compiled = try compile(bytes: bytes)
      let plan = try Plan(copying: compiled.planBytes)
      try plan.validate()
    } catch let error as ManifestError {
      #expect(error.errorCount > 0)
      #expect(error.diagnostics.allSatisfy { $0.line > 0 && $0.column > 0 })
      _ = DiagnosticRenderer(isColored: true).render(error)
    } catch {
      Issue.record("a plan that is not sound: \(error), from \(bytes)")
    }
  }
}
