import Foundation
import Screen
import Testing

/// What people see of a run that waits for an allocation, on a real cluster.
@Suite(.whereSlurmIs, .serialized, .onSlurmCluster)
struct SlurmViewTests {
  let place: Workplace

  init() throws { place = try Workplace("tasks:\n  a: { run: 'echo a >> trace' }\n") }

  private static let on = "slurm:--hold -N 1 -c 4 -t 5"

  /// The number of the job that waits.
  private func job(in text: String) throws -> String {
    let match = try #require(text.firstMatch(of: #/Slurm job (\d+) is pending/#))
    return String(match.1)
  }

  @Test func `what it waits for is told by each view, and where it runs once it does`() throws {
    let cluster = try #require(SlurmCluster.current)
    let run = try place.start(
      "run", "--output", "line", "--on", Self.on, environment: cluster.environment)
    try run.waitForError(" is pending: JobHeldUser\n")
    #expect(!run.errorText.contains("warning"), "\(run.errorText)")
    let job = try job(in: run.errorText)
    let told = "Slurm job \(job) is pending: JobHeldUser"
    let status = try place.opflow("status").output
    #expect(status.contains("\nwaits for nodes: \(told)\n"), "\(status)")
    #expect(try place.opflow("why", "a").output.contains("waits for a node: \(told)\n"))
    _ = try place.slurm("scontrol release \(job)")
    let end = try run.finish()
    #expect(end.status == 0, "\(end)")
    #expect(end.errors.contains("Slurm job \(job) runs on n1\n"), "\(end)")
    #expect(end.errors.contains("a started on n1\n"), "\(end)")
    let after = try place.opflow("status").output
    #expect(after.contains("\nnodes: 1 (n1)\n") && !after.contains("waits for nodes:"), "\(after)")
    try place.waitForEmptyQueue()
    place.expectNothingAlive()
  }

  @Test func `a frame tells it for as long as it is so`() throws {
    let cluster = try #require(SlurmCluster.current)
    let run = try place.startAtTerminal(
      "run", "--on", Self.on, environment: cluster.environment)
    try run.wait { $0.text.contains { $0.contains("is pending: JobHeldUser") } }
    let job = try job(in: run.screen.text.joined(separator: "\n"))
    _ = try place.slurm("scontrol release \(job)")
    #expect(try run.finish() == 0, "\(run.screen.text)")
    #expect(!run.screen.text.contains { $0.contains("Slurm job") }, "\(run.screen.text)")
    try place.waitForEmptyQueue()
    place.expectNothingAlive()
  }
}
