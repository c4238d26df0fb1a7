import Foundation
import Glibc
import Testing

/// A run of tasks that prove by themselves whether one of them ran twice at once.
struct SlurmRun {
  static let nodes = "'slurm:-N 3 -c 4 -t 10'"
  let place: Workplace
  let count: Int

  /// - Parameters:
  ///   - seconds: how long each takes.
  ///   - told: the task whose first try `start` waits for.
  init(tasks count: Int, seconds: Double, telling told: Int = 15, extra: String = "") throws {
    self.count = count
    place = try Workplace(
      """
      tasks:
        t:
          matrix: { n: { range: [1, \(count)] } }
          env: { N: "${{ matrix.n }}" }
          shell: bash
          run: |
            exec 9> "locks/$N"
            flock -n 9 || echo "$N" >> twice
            echo "$N ${SLURMD_NODENAME:-here}" >> trace
            if [[ $N == \(told) && ! -e told ]]; then touch told; echo here > \(Self.gate); fi
            sleep \(seconds)
            echo "$N" >> done
      \(extra)
      """)
    try place.shell("mkdir locks")
  }

  static let gate = "gate"

  /// The variables for a short heartbeat timeout.
  var environment: [String: String] {
    get throws {
      let cluster = try #require(SlurmCluster.current)
      return cluster.environment.merging(["OPFLOW_LEASE": "2s"]) { $1 }
    }
  }

  /// Starts it, and returns when it is at the task that tells so.
  func start(_ words: String = "run --output line --on \(nodes)") throws -> LiveProcess {
    let gate = try place.gate(Self.gate)
    let variables = try environment.map { "export \($0.key)='\($0.value)'; " }.joined()
    let process = try place.startShell("\(variables) exec $opflow \(words)")
    _ = try gate.next()
    return process
  }

  /// Every task has succeeded, and none ran beside itself.
  func expectDone(sourceLocation: SourceLocation = #_sourceLocation) throws {
    let counts = try place.status().counts
    #expect(counts["succeeded"] == count, "\(counts)", sourceLocation: sourceLocation)
    #expect(
      Set(place.lines("done")).count == count, "some left nothing", sourceLocation: sourceLocation)
    #expect(place.lines("twice") == [], sourceLocation: sourceLocation)
  }

  /// Nothing is left of it, on any node or in the queue.
  func expectGone(sourceLocation: SourceLocation = #_sourceLocation) throws {
    try place.waitForEmptyQueue()
    place.expectNothingAlive(sourceLocation: sourceLocation)
  }

  /// Runs a shell's commands about a node, with `$agent`, `$stepd`, `$srun` and `$shepherd` as the
  /// processes that lead to it.
  ///
  /// - Parameter mayMiss: one of them may be gone by then.
  func strike(_ commands: String, on node: String = "n2", mayMiss: Bool = false) throws {
    let found = """
      set -u
      of_here() { grep -qzx "SLURM_CONF=$SLURM_CONF" "/proc/$1/environ" 2>/dev/null; }
      for pid in $(pgrep -x opflow); do
        if of_here $pid && grep -qzx SLURMD_NODENAME=\(node) /proc/$pid/environ &&
          tr '\\0' ' ' < /proc/$pid/cmdline | grep -q ' agent'; then agent=$pid; fi
      done
      for pid in $(pgrep -x srun); do
        of_here $pid && grep -qzx -- --nodelist=\(node) /proc/$pid/cmdline || continue
        if [[ $(cat /proc/$(ps -o ppid= $pid | tr -d ' ')/comm) == srun ]]; then shepherd=$pid
        else srun=$pid; fi
      done
      stepd=$(ps -o ppid= "$agent" | tr -d ' ')
      if [[ $(cat "/proc/$stepd/comm") != slurmstepd ]]; then unset stepd; fi
      step=$(tr '\\0' '\\n' < /proc/$agent/environ | sed -n 's/^SLURM_STEP_ID=//p')
      job=$(tr '\\0' '\\n' < /proc/$agent/environ | sed -n 's/^SLURM_JOB_ID=//p')
      \(commands)
      """
    _ = try place.slurm(found, status: mayMiss ? nil : 0)
  }

  /// Continues processes that a strike stopped, since checks for survivors would find them.
  func proceedAll() throws {
    _ = try place.slurm(
      """
      for pid in $(pgrep -x 'srun|opflow|exe|slurmstepd'); do
        if grep -qzx "SLURM_CONF=$SLURM_CONF" "/proc/$pid/environ" 2>/dev/null; then kill -CONT $pid; fi
      done
      """, status: nil)
  }
}
