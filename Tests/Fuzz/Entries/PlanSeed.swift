import OpflowManifest
import OpflowPlan

/// Plans that the fuzzer starts with. They are compiled each time, since stored ones would be
/// invalid in the next layout.
enum PlanSeed {
  private static let manifests = [
    "tasks: { a: { run: 'true' } }",
    """
    resources: { gpu: 2 }
    defaults: { retry: { max: 2, exit_codes: [75] }, timeout: 1m }
    tasks:
      a: { run: [echo, a, b], tags: [x, y], priority: high, allow_failure: [3] }
      b: { run: "echo $X | cat", needs: a, env: { X: "1", Y: "" }, resources: { gpu: 0.5, cpu: 2 } }
      c: { run: x, needs: [{ task: a, on: failure }, { task: b, on: finished }], dir: sub }
      d: { run: x, finally: true, desc: last, stop: { signal: INT, grace: 3s } }
      e: { run: x, manual: true, if: "env.HOME" }
      i: { run: x, interactive: true }
      k: { run: x, control: true }
      q: { approve: "Go on?", needs: a, timeout: 1h, allow_failure: true }
    """,
    """
    tasks:
      a: { download: { url: https://example.org/a, to: a, mirrors: [https://example.net/a],
             size: 10, mode: "0755", headers: { X-Y: z } } }
      b: { run: x, needs: a }
    """,
    """
    secrets: { S: { run: [echo, secret] }, F: { file: f } }
    tasks:
      a: { run: "echo 1 > $OPFLOW_VALUES/v", matrix: { n: [1, 2], m: { range: [1, 2] } } }
      b: { run: [echo, "${{ needs.c.v || 'x' }}-${{ needs.a.v }}"], needs: [a, c],
           if: "needs.c.v == 'y' && !(needs.c.w =~ 'z*')", secrets: [S] }
      c: { run: "echo y > $OPFLOW_VALUES/v", secrets: [F] }
      d: { download: { url: "https://example.org/${{ needs.c.v }}", to: d,
             sha256: "${{ needs.c.h }}" }, needs: c }
      e: { run: "ls $OPFLOW_NEEDS", needs: [a, c], env: { V: "${{ needs.a.v != '' }}" } }
      f: { run: x, needs: "a[n]", matrix: { n: [1, 2] } }
    """,
    """
    tasks:
      a: { run: x, inputs: [a.c, "*.h", { env: CC }, { run: [cc, -v] }], outputs: [a.o, "*.d"] }
      b: { run: x, matrix: { n: [1, 2] }, needs: a, inputs: ["${{ matrix.n }}", a.o] }
      c: { run: x, outputs: c }
      d: { download: { url: https://example.org/d, to: d } }
    """,
  ]

  /// - Throws: an invalid manifest.
  static func make() throws(FuzzFinding) -> [[UInt8]] {
    var seeds: [[UInt8]] = []
    for manifest in manifests { seeds.append(try compile(manifest, addedTo: nil)) }
    return seeds
  }

  /// Returns the bytes of a plan, or of a segment for one.
  static func compile(_ manifest: String, addedTo run: Plan?) throws(FuzzFinding) -> [UInt8] {
    let compiled = Array(manifest.utf8).withUnsafeBytes { bytes in
      Result { () throws(ManifestError) -> CompiledManifest? in
        let source = FuzzManifest.source(bytes)
        guard let run else {
          return try ManifestCompiler.compile(source, options: FuzzManifest.options)
        }
        return try ManifestCompiler.compile(source, addedTo: run, options: FuzzManifest.options)
          .added
      }
    }
    switch compiled {
    case .success(let compiled?): return compiled.planBytes
    case .success(nil): throw FuzzFinding("a seed adds nothing")
    case .failure(let error):
      throw FuzzFinding("a seed is no manifest: \(error.diagnostics.map(\.message))")
    }
  }
}
