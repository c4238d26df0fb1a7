import Foundation
import Testing

/// Runs on a cluster where a node loses its network: neither side gets a message about it.
@Suite(.whereAllOfSlurmIs, .whereNetworksAre, .serialized, .onSlurmCluster(networks: true))
struct SlurmNetworkTests {
  /// Has the node `n2` lose its network in the middle of a run.
  private func cut(_ run: SlurmRun) throws -> LiveProcess {
    let process = try run.start()
    try SlurmCluster.current?.cut("n2")
    return process
  }

  @Test func `a run goes on without a node that has no network`() throws {
    let cluster = try #require(SlurmCluster.current)
    let run = try SlurmRun(tasks: 120, seconds: 0.3)
    let finished = try cut(run).finish()
    #expect(finished.status == 0, "\(finished)")
    try run.expectDone()
    // Its agent has ended by itself, before anybody could tell it to.
    run.place.expectNothingAlive()
    let states = try run.place.journal().filter { $0.values["host"] == "n2" && $0.event == "site" }
    #expect(states.map { $0.values["state"] } == ["joined", "silent", "lost"])
    try cluster.mend()
    try run.expectGone()
  }

  /// When Slurm ends the job, its patience with nodes (SlurmdTimeout) is over.
  @Test func `what Slurm does with a job that lost a node is told, and a resume goes on`() throws {
    let cluster = try #require(SlurmCluster.current)
    let run = try SlurmRun(tasks: 60, seconds: 5)
    let finished = try cut(run).finish()
    #expect(finished.status == 143, "\(finished)")
    #expect(finished.errors.contains("Node failure on n2"), "\(finished)")
    run.place.expectNothingAlive()
    try cluster.mend()
    try run.place.waitForEmptyQueue()
    try run.place.opflow(
      "resume", "--output", "line", "--on", "slurm:-N 3 -c 4", environment: run.environment)
    try run.expectDone()
    try run.expectGone()
  }
}
