import Foundation
import Glibc
import Testing

/// Losses of parts of a run on a cluster, one at a time.
@Suite(.whereSlurmIs, .serialized, .onSlurmCluster)
struct SlurmLossTests {
  /// A blow, by name: what is done to the node `n2`.
  private static let blows: [(name: String, commands: String)] = [
    ("the agent is killed", "kill -KILL $agent"),
    ("srun and its shepherd are killed", "kill -KILL $shepherd $srun"),
    ("slurmstepd is killed", "kill -KILL $stepd"),
    ("a worker is killed", "kill -KILL $(pgrep -P $agent | head -n 1)"),
    ("the agent stops", "kill -STOP $agent"),
    ("the agent is asked to end", "kill -TERM $agent"),
    ("srun is killed", "kill -KILL $srun"),
    ("srun stops, and so one direction", "kill -STOP $srun"),
    ("srun's shepherd is killed", "kill -KILL $shepherd"),
    ("the step is cancelled", "scancel $job.$step"),
  ]

  /// The first ones are those that differ most.
  private static let tried = SlurmCluster.extent == "all" ? blows : Array(blows.prefix(3))

  @Test(arguments: tried.map(\.name))
  func `a run goes on when`(_ name: String) throws {
    let blow = try #require(Self.blows.first { $0.name == name })
    let run = try SlurmRun(tasks: 90, seconds: 0.3)
    let process = try run.start()
    try run.strike(blow.commands)
    let finished = try process.finish()
    #expect(finished.status == 0, "\(finished)")
    try run.expectDone()
    try run.proceedAll()
    try run.expectGone()
  }

  @Test(.whereAllOfSlurmIs)
  func `a run goes on without a node whose daemon is killed`() throws {
    let cluster = try #require(SlurmCluster.current)
    let run = try SlurmRun(tasks: 90, seconds: 0.3)
    let process = try run.start()
    kill(try cluster.pid(of: "n2"), SIGKILL)
    let finished = try process.finish()
    try cluster.mend()
    #expect(finished.status == 0, "\(finished)")
    try run.expectDone()
    try run.expectGone()
  }

  @Test(.whereAllOfSlurmIs)
  func `a run whose job is cancelled is resumed in another allocation`() throws {
    let run = try SlurmRun(tasks: 60, seconds: 0.3)
    let process = try run.start()
    try run.strike("scancel $job")
    let finished = try process.finish()
    #expect(finished.status == 143, "\(finished)")
    #expect(finished.errors.contains("has been revoked"), "\(finished)")
    try run.expectGone()
    let done = Set(run.place.lines("done")).subtracting(try untold(run))
    let before = run.place.lines().count
    try run.place.opflow("resume", "--on", "slurm:-N 3 -c 4", environment: run.environment)
    try run.expectDone()
    let again = run.place.lines().dropFirst(before).compactMap {
      $0.split(separator: " ").first.map(String.init)
    }
    #expect(done.isDisjoint(with: again), "what was done ran again")
    try run.expectGone()
  }

  /// Tasks that have no success, be it that they were done, which nobody could tell any more.
  private func untold(_ run: SlurmRun) throws -> Set<String> {
    let successes = Set(try run.place.journal().filter { $0.event == "success" }.map(\.task))
    return Set(
      (1...run.count).map(String.init).filter { !successes.contains("t[n=\($0)]") })
  }

  @Test(.whereAllOfSlurmIs)
  func `before the time is over the run stops, and can be resumed`() throws {
    let run = try SlurmRun(tasks: 80, seconds: 10)
    // Slurm counts in minutes.
    let process = try run.start("run --output line --on 'slurm:-N 2 -c 4 -t 1'")
    let finished = try process.finish()
    #expect(finished.status == 143, "\(finished)")
    #expect(finished.errors.contains("the time of the allocation has run out"), "\(finished)")
    try run.expectGone()
  }

  @Test(.whereAllOfSlurmIs)
  func `what runs when the time is nearly over has its grace to save what it did`() throws {
    let cluster = try #require(SlurmCluster.current)
    let place = try Workplace(
      """
      tasks:
        t:
          matrix: { n: { range: [1, 8] } }
          stop: { grace: 8s }
          shell: bash
          run: |
            trap 'sleep 3; echo "$OPFLOW_TASK" >> saved; exit 1' TERM
            test -e again || while :; do sleep 0.1; done
      """)
    let run = try place.opflow(
      "run", "--output", "line", "--on", "slurm:-N 2 -c 4 -t 1", status: 143,
      environment: cluster.environment)
    #expect(Set(place.lines("saved")).count == 8, "\(run)")
    let ends = try place.journal().filter { $0.event == "interrupt" }.map { $0.values["reason"] }
    #expect(ends == Array(repeating: "time-over", count: 8), "\(ends)")
    try place.waitForEmptyQueue()
    try place.shell("touch again")
    try place.opflow("resume", "--on", "slurm:-N 2 -c 4 -t 1", environment: cluster.environment)
    #expect(try place.status().counts["succeeded"] == 8)
    try place.waitForEmptyQueue()
  }

  @Test(.whereAllOfSlurmIs)
  func `nothing burns on when the coordinator is killed`() throws {
    let run = try SlurmRun(tasks: 90, seconds: 1)
    let process = try run.start()
    process.send(SIGKILL)
    let began = ContinuousClock.now
    try run.place.waitForEmptyQueue()
    #expect(ContinuousClock.now - began < .seconds(7))
    try run.expectGone()
    #expect(run.place.lines("twice") == [])
  }

  @Test(.whereAllOfSlurmIs)
  func `nothing burns on when all of it is killed at once`() throws {
    let run = try SlurmRun(tasks: 90, seconds: 1)
    let process = try run.start()
    // The processes on the nodes get no signal, and have lost all connections.
    _ = try run.place.slurm(
      """
      pids=
      for pid in $(pgrep -x 'opflow|salloc|srun|sh|cat'); do
        grep -qzx "SLURM_CONF=$SLURM_CONF" /proc/$pid/environ 2>/dev/null || continue
        grep -qz ^SLURMD_NODENAME= /proc/$pid/environ || pids="$pids $pid"
      done
      kill -KILL \(process.pid) $pids; true
      """)
    let began = ContinuousClock.now
    try run.place.waitForEmptyQueue()
    #expect(ContinuousClock.now - began < .seconds(9))
    try run.expectGone()
  }

  @Test(.whereAllOfSlurmIs)
  func `a batch script that is sent again goes on where it was`() throws {
    let run = try SlurmRun(tasks: 60, seconds: 0.2)
    let gate = try run.place.gate(SlurmRun.gate)
    try run.place.write(
      "night.sh",
      """
      #!/bin/bash
      #SBATCH --nodes=3 --ntasks-per-node=1 --cpus-per-task=4 --time=5
      exec $opflow run --resume --output line --on slurm
      """)
    let first = try run.place.shell(
      "sbatch --parsable -o first night.sh", environment: run.environment
    ).output.trimmingCharacters(in: .whitespacesAndNewlines)
    _ = try gate.next()
    _ = try run.place.slurm("scancel \(first)")
    try run.expectGone()
    try run.place.shell("sbatch -W -o second night.sh", environment: run.environment)
    try run.expectDone()
    try run.expectGone()
  }
}
