package import OpflowCore
internal import OpflowWorker

extension ManifestFile {
  /// The plan of it, for who only looks at names: that of an earlier run where the manifest still gives
  /// it, else one that is compiled now, else that of its newest run; nil where there is none.
  package func planToGlanceAt(_ state: StateFolder) -> Plan? {
    let inputs = inputs(set: [])
    let earlier = try? state.runs(ofManifest: realPath, amongNewest: Self.mostRunsGlancedAt)
    var newest: Plan?
    for run in earlier.map({ Array($0) }) ?? [] {
      guard let plan = try? run.openPlan(verifyingChecksum: false) else { continue }
      let isOfManifest = !plan.hasRoom
      if isOfManifest, plan.inputs(ifCurrent: inputs, runID: Self.runIDOfCheck) != nil {
        return plan
      }
      newest = newest ?? plan
    }
    guard bytes.count <= Self.mostBytesCompiled,
      let compiled = try? compile(
        runID: Self.runIDOfCheck, set: [], maxParallel: nil, state: state)
    else { return newest }
    return (try? compiled.openPlan()) ?? newest
  }

  private static let mostRunsGlancedAt = 3
  /// What is compiled while somebody waits for it.
  private static let mostBytesCompiled = 4 << 20
}
