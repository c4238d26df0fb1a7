import Drill
import Foundation
import Glibc
import Testing

/// Runs of 300 tasks that are struck at random: by what, where and when follows from a number,
/// which a failure names.
@Suite(.whereStrikesAreWanted, .serialized, .onSlurmCluster)
struct SlurmStrikeTests {
  /// What may become of the run: all but the first leave something to a resume.
  private enum End { case goesOn, stops, dies }

  private struct Blow {
    let name: String
    /// About the node that is struck.
    var commands = ""
    var end = End.goesOn
  }

  private static let blows = [
    Blow(name: "agent killed", commands: "kill -KILL $agent"),
    Blow(name: "agent stopped", commands: "kill -STOP $agent"),
    Blow(name: "agent asked to end", commands: "kill -TERM $agent"),
    Blow(name: "worker killed", commands: "kill -KILL $(pgrep -P $agent | head -n 1)"),
    Blow(name: "worker stopped", commands: "kill -STOP $(pgrep -P $agent | tail -n 1)"),
    Blow(name: "srun killed", commands: "kill -KILL $srun"),
    Blow(name: "srun stopped", commands: "kill -STOP $srun"),
    Blow(name: "shepherd killed", commands: "kill -KILL $shepherd"),
    Blow(name: "srun and shepherd killed", commands: "kill -KILL $shepherd $srun"),
    Blow(name: "slurmstepd killed", commands: "kill -KILL $stepd"),
    Blow(name: "slurmstepd stopped", commands: "kill -STOP $stepd"),
    Blow(name: "step cancelled", commands: "scancel $job.$step"),
    Blow(name: slurmdKilled),
    Blow(name: "job cancelled", commands: "scancel $job", end: .stops),
    Blow(
      name: "time nearly over", commands: "scontrol update JobId=$job EndTime=now+8", end: .stops),
    Blow(name: coordinatorKilled, end: .dies),
  ]

  private static let slurmdKilled = "slurmd killed"
  private static let coordinatorKilled = "coordinator killed"

  @Test(arguments: SlurmCluster.strikes)
  func `all is done in the end, and nothing twice at once, after strike`(_ number: UInt64) throws {
    let cluster = try #require(SlurmCluster.current)
    var chance = DrillNumbers(seed: number)
    let run = try SlurmRun(
      tasks: 300, seconds: 0.1, telling: Int.random(in: 1...290, using: &chance))
    let count = Int.random(in: 0..<4, using: &chance) == 0 ? 2 : 1
    let blows = Self.blows.shuffled(using: &chance).prefix(count)
    let names = blows.map(\.name).joined(separator: ", ")
    let process = try run.start()
    for blow in blows {
      let node = "n\(Int.random(in: 1...3, using: &chance))"
      switch blow.name {
      case Self.slurmdKilled: kill(try cluster.pid(of: node), SIGKILL)
      case Self.coordinatorKilled: process.send(SIGKILL)
      default: try run.strike(blow.commands, on: node, mayMiss: true)
      }
    }
    let finished = try process.finish()
    if blows.contains(where: { $0.name == Self.slurmdKilled }) { try cluster.mend() }
    try run.proceedAll()
    try run.expectGone()
    if blows.contains(where: { $0.end != .goesOn }) {
      #expect([0, 143, -SIGKILL].contains(finished.status), "\(names): \(finished)")
      if finished.status != 0 {
        try run.place.opflow(
          "resume", "--output", "quiet", "--on", "slurm:-N 3 -c 4 -t 10",
          environment: run.environment)
      }
    } else {
      #expect(finished.status == 0, "\(names): \(finished)")
    }
    try run.expectDone()
    try run.expectGone()
  }
}
