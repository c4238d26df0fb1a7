package import OpflowPlan
internal import OpflowWorker

extension ManifestFile {
  /// A plan for its names: of an earlier run if it is current, else compiled now, else of the
  /// newest run.
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
  /// While the user waits.
  private static let mostBytesCompiled = 4 << 20
}
