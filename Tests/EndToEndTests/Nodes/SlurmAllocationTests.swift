import Foundation
import Glibc
import Testing

/// An allocation's keeper, as the coordinator has it: its input is a FIFO that the test holds.
private final class Keeper {
  let place: Workplace
  let process: LiveProcess
  private var input: Int32

  init(_ place: Workplace, _ arguments: String) throws {
    self.place = place
    let path = place.file("input")
    guard mkfifo(path, 0o600) == 0 else { throw HarnessFailure.errno("mkfifo") }
    input = open(path, O_RDWR | O_CLOEXEC)
    guard input >= 0 else { throw HarnessFailure.errno(path) }
    let cluster = try #require(SlurmCluster.current)
    process = try place.startShell(
      "export SLURM_CONF=\(cluster.folder)/slurm.conf; exec $opflow allocation \(arguments) <input"
    )
  }

  deinit { close(input) }

  /// The coordinator is gone.
  func hangUp() {
    close(input)
    input = -1
  }

  /// The fields of the line of that word.
  func line(_ word: String) throws -> [String] {
    try process.waitForOutput(word + "\t")
    // It is written at once.
    let lines = process.outputText.split(separator: "\n")
    let line = try #require(lines.last { $0.hasPrefix(word + "\t") })
    return line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
  }
}

@Suite(.whereSlurmIs, .serialized, .onSlurmCluster)
struct SlurmAllocationTests {
  let place: Workplace

  init() throws { place = try Workplace() }

  @Test func `one that is asked for is told with its nodes, and ends with who wanted it`() throws {
    let keeper = try Keeper(place, "ask 0 -N 2 -c 4 -t 5")
    let granted = try keeper.line("granted")
    #expect(granted[3...] == ["n[1-2]", "4(x2)"])
    #expect(try (200...300).contains(#require(Int(granted[2]))), "\(granted)")
    #expect(try keeper.line("pending")[1] == granted[1])
    keeper.hangUp()
    #expect(try keeper.process.finish().status == 0)
    #expect(try place.slurm("squeue --noheader") == "")
    place.expectNothingAlive()
  }

  @Test func `while it waits, Slurm's reason is told, and it ends with who wanted it`() throws {
    let first = try Keeper(place, "ask 0 -N 3 -c 4 -t 5")
    _ = try first.line("granted")
    let other = try Workplace()
    let second = try Keeper(other, "ask 0 -N 1 -c 4 -t 5")
    try second.process.waitForOutput("\tResources")
    second.hangUp()
    #expect(try second.process.finish().status == 0)
    #expect(try place.slurm("squeue --noheader --states=PENDING") == "")
    let third = try Keeper(try Workplace(), "ask 0 -N 1 -c 4 -t 5")
    _ = try third.line("pending")
    first.hangUp()
    #expect(try third.line("granted")[3] == "n1")
    third.hangUp()
    try place.waitForEmptyQueue()
    other.expectNothingAlive()
  }

  @Test func `one that does not come in time is not waited for`() throws {
    let first = try Keeper(place, "ask 0 -N 3 -c 4 -t 5")
    _ = try first.line("granted")
    let second = try Keeper(try Workplace(), "ask 1000 -N 1 -c 4 -t 5")
    #expect(try second.line("over")[1].hasPrefix("Slurm granted no allocation within 1 s"))
    #expect(try second.process.finish().status == 0)
    first.hangUp()
    try place.waitForEmptyQueue()
  }

  @Test func `what Slurm refuses is told in its words`() throws {
    let keeper = try Keeper(place, "ask 0 -p nowhere")
    let over = try keeper.line("over")[1]
    #expect(over.hasPrefix("Slurm granted no allocation: "))
    #expect(over.contains("Invalid partition name specified"))
    #expect(try keeper.process.finish().status == 0)
  }

  @Test func `nothing burns on when the keeper itself is killed`() throws {
    let keeper = try Keeper(place, "ask 0 -N 2 -t 5")
    _ = try keeper.line("granted")
    keeper.process.send(SIGKILL)
    try place.waitForEmptyQueue()
    place.expectNothingAlive()
  }

  @Test func `nothing burns on when salloc is killed`() throws {
    let keeper = try Keeper(place, "ask 0 -N 2 -t 5")
    _ = try keeper.line("granted")
    try place.shell("pkill -KILL -P \(keeper.process.pid) -x salloc")
    #expect(try keeper.line("over")[1].hasPrefix("the allocation has ended"))
    #expect(try keeper.process.finish().status == 0)
    try place.waitForEmptyQueue()
    place.expectNothingAlive()
  }

  @Test func `one that somebody else cancels is over`() throws {
    let keeper = try Keeper(place, "ask 0 -N 2 -t 5")
    let job = try keeper.line("granted")[1]
    _ = try place.slurm("scancel \(job)")
    #expect(try keeper.line("over")[1].contains("has been revoked"))
    #expect(try keeper.process.finish().status == 0)
  }

  @Test func `one that it runs in is told, and stays`() throws {
    try place.writeProgram(
      "inside",
      """
      #!/bin/sh
      sh -c 'echo $$ >reader; exec sleep 1000' | $opflow allocation inside | {
        read -r line
        echo "$line"
        squeue --noheader --format=%T
        kill $(cat reader)
      }
      squeue --noheader --format=%T
      """)
    let said = try place.slurm("salloc -Q -N 2 -c 4 -t 5 ./inside").split(separator: "\n")
    #expect(said.first?.hasPrefix("granted\t") == true)
    #expect(said.first?.hasSuffix("\tn[1-2]\t4(x2)") == true)
    #expect(said.dropFirst() == ["RUNNING", "RUNNING"])
    try place.waitForEmptyQueue()
  }

  @Test func `outside of one there is none to be in`() throws {
    let keeper = try Keeper(place, "inside")
    #expect(try keeper.line("over")[1].hasPrefix("not in a Slurm allocation"))
  }
}
