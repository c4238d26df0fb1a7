import Foundation
import Testing

/// `memory_limit`, on whatever this machine has.
struct MemoryLimitTests {
  private static let manifest = """
    tasks:
      hog: { memory_limit: 64MiB, run: [python3, -c, "print(len(bytearray(200 << 20)))"] }
      small: { memory_limit: 64MiB, run: ":" }
    """

  @Test func `a task that uses more is ended, or it is said that no limit is kept`() throws {
    let place = try Workplace(Self.manifest)
    let run = try place.opflow("run", "-k", status: nil)
    if run.errors.contains("`memory_limit` is not enforced: ") {
      print("memory limits were tried without a control group: \(run.errors)")
      #expect(run.status == 0, "\(run)")
      #expect(
        run.errors.contains("systemd-run --user --scope -p Delegate=yes opflow run"), "\(run)")
      let enforced = try place.opflow("run", "--memory", "enforce", status: 2)
      #expect(
        enforced.errors.hasPrefix(
          "opflow: --memory enforce: opflow cannot enforce `memory_limit`: "))
      #expect(try place.journal().count { $0.event == "start" } == 2)
    } else {
      print("memory limits were tried in a control group")
      #expect(run.status == 1, "\(run)")
      #expect(run.errors.contains("it used more memory than its limit of 64MiB"), "\(run)")
      let end = try #require(try place.journal().last { $0.task == "hog" })
      #expect(end.event == "failure" && end.values["reason"] == "memory")
      #expect(try place.journal().last { $0.task == "small" }?.event == "success")
      try place.opflow("run", "--memory", "enforce", "small")
    }
  }

  @Test func `who limits nothing is told nothing`() throws {
    let place = try Workplace("tasks: { a: { run: ':' } }")
    #expect(!(try place.opflow("run", "--memory", "enforce")).errors.contains("memory"))
  }
}
