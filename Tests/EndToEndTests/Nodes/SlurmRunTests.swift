import Foundation
import Glibc
import Testing

@Suite(.whereSlurmIs, .serialized, .onSlurmCluster)
struct SlurmRunTests {
  @Test func `tasks run on all nodes of the allocation that the run is in`() throws {
    let run = try SlurmRun(tasks: 60, seconds: 0.1)
    _ = try run.place.gate(SlurmRun.gate)
    let said = try run.place.shell(
      "salloc -Q -N 3 -c 4 -t 5 $opflow run --output line --on slurm 2>&1",
      environment: run.environment
    ).output
    try run.expectDone()
    let nodes = Set(run.place.lines().compactMap { $0.split(separator: " ").last })
    #expect(nodes == ["n1", "n2", "n3"], "\(said)")
    try run.expectGone()
  }

  @Test func `an allocation is asked for, used and given back`() throws {
    let run = try SlurmRun(tasks: 60, seconds: 0.1)
    let process = try run.start()
    let finished = try process.finish()
    #expect(finished.status == 0, "\(finished)")
    // At the end of the command, not some time after it.
    #expect(try run.place.slurm("squeue --noheader --states=PENDING,RUNNING") == "")
    try run.expectDone()
    try run.expectGone()
  }

  @Test func `what Slurm refuses ends the run, with its words, and it can be resumed`() throws {
    let run = try SlurmRun(tasks: 3, seconds: 0)
    let finished = try run.place.opflow(
      "run", "--output", "line", "--on", "slurm:-p nowhere", status: 143,
      environment: run.environment)
    #expect(finished.errors.contains("Invalid partition name specified"), "\(finished)")
    try run.place.opflow("resume", "--on", "slurm:-N 1", environment: run.environment)
    try run.expectDone()
    try run.expectGone()
  }

  @Test func `one that does not come in time is not waited for, and Slurm's reason is told`() throws
  {
    let other = try Workplace()
    let cluster = try #require(SlurmCluster.current)
    let blocker = try other.startShell(
      """
      export SLURM_CONF=\(cluster.folder)/slurm.conf; exec salloc -Q -N 3 -c 4 sh -c 'echo here; \
      exec sleep 1000'
      """
    )
    try blocker.waitForOutput("here")
    let run = try SlurmRun(tasks: 3, seconds: 0)
    let finished = try run.place.opflow(
      "run", "--output", "line", "--on", "slurm:-N 3 -c 4", "--queue-timeout", "2s", status: 143,
      environment: run.environment)
    #expect(finished.errors.contains(" is pending: Resources"), "\(finished)")
    #expect(
      finished.errors.contains("Slurm granted no allocation within 2 s (Resources)"),
      "\(finished)")
    blocker.send(SIGTERM)
    try run.expectGone()
  }

  @Test func `a task may use srun itself`() throws {
    let place = try Workplace(
      "tasks: { a: { run: \"srun -N 2 -n 2 sh -c 'echo $SLURMD_NODENAME' > nodes\" } }")
    let cluster = try #require(SlurmCluster.current)
    try place.opflow("run", "--on", "slurm:-N 2 -c 2", environment: cluster.environment)
    #expect(place.lines("nodes").sorted() == ["n1", "n2"])
    try place.waitForEmptyQueue()
  }

  @Test func `the sweep is the same on a cluster as on one machine`() throws {
    let place = try Workplace.ofJob("sweep.yaml")
    let cluster = try #require(SlurmCluster.current)
    try place.opflow("run", "--output", "quiet")
    let here = try place.text("out/sweep/pi")
    try place.opflow(
      "run", "--output", "quiet", "--on", "slurm:-N 3 -c 4",
      environment: cluster.environment)
    #expect(try place.text("out/sweep/pi") == here)
    let estimate = try place.opflow("logs", "estimate").output
    for node in ["n1", "n2", "n3"] { #expect(estimate.contains("tasks on \(node)"), "\(estimate)") }
    try place.waitForEmptyQueue()
    place.expectNothingAlive()
  }
}
