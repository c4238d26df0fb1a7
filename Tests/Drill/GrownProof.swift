import Foundation

/// The proofs in the journals of growing runs, read without opflow's own code.
struct GrownProof {
  struct Run {
    let id: String
    let manifest: String
    let proof: JournalProof
  }

  /// Runs that have begun, oldest first.
  private(set) var runs: [Run] = []

  init(folder: String) {
    let parent = folder + "/.opflow/runs"
    for id in ((try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []).sorted() {
      guard let data = FileManager.default.contents(atPath: "\(parent)/\(id)/journal.log") else {
        continue
      }
      let proof = JournalProof([UInt8](data))
      guard let opening = proof.opening else { continue }
      runs.append(
        Run(
          id: id, manifest: opening["manifest"].map { ($0 as NSString).lastPathComponent } ?? "",
          proof: proof))
    }
  }

  /// The newest run of each manifest; older ones belong to tasks that ran again.
  var newest: [String: Run] {
    Dictionary(runs.map { ($0.manifest, $0) }, uniquingKeysWith: { $1 })
  }

  /// Proven tasks, and the run that proves each.
  var successes: [String: String] {
    var successes: [String: String] = [:]
    for run in newest.values { for task in run.proof.successes { successes[task] = run.id } }
    return successes
  }
}
