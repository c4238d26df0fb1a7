internal import OpflowCore

/// What a manifest says at its top, but for `defaults` and `tasks`. Texts are good as long as the
/// compilation.
struct ManifestValues {
  var name: String
  var description = Text(start: nil, count: 0)
  /// 0 where the machine decides.
  var maxParallel: UInt32 = 0
  var maxFailures: UInt32 = 1
  var keepRuns = ManifestEntry.standardKeepRuns
  var concurrency = RunConcurrency()
  var resources: ResourceTable
  var secrets: [DeclaredSecret] = []
}
