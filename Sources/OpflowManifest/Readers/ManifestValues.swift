internal import OpflowCore

/// Top-level values except `defaults` and `tasks`. Texts live as long as the compilation.
struct ManifestValues {
  var name: String
  var description = Text(start: nil, count: 0)
  /// 0 lets the computer decide.
  var maxParallel: UInt32 = 0
  var maxFailures: UInt32 = 1
  var keepRuns = ManifestEntry.standardKeepRuns
  var concurrency = RunConcurrency()
  var resources: ResourceTable
  var secrets: [DeclaredSecret] = []
}
