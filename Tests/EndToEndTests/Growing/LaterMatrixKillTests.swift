import Foundation
import Testing

/// The process of a run dies at one of its system calls while a task generates matrix tasks and
/// they run.
struct LaterMatrixKillTests {
  private static let injector =
    URL(fileURLWithPath: Program.path).deletingLastPathComponent().path + "/Injector"

  private static let faults: [(call: String, number: Int)] =
    [1, 3, 10, 25, 40, 55, 70].map { ("pwrite64", $0) } + (1...3).map { ("rename", $0) }
    + stride(from: 2, through: 44, by: 3).map { ("write", $0) }
    + stride(from: 1, through: 9, by: 2).map { ("fdatasync", $0) }

  @Test(arguments: faults.indices)
  func `a resume comes to the same end, and runs nothing twice that had ended`(
    _ fault: Int
  ) throws {
    let (call, number) = Self.faults[fault]
    let place = try Workplace(
      """
      tasks:
        scan: { run: "printf 'a\\nb\\nc\\n' > parts; echo scan >> trace" }
        work:
          matrix: { p: { lines: parts, after: scan } }
          run: "echo work ${{ matrix.p }} >> trace"
        pack:
          needs: ["work[p]"]
          matrix: { p: { lines: parts, after: scan } }
          run: "echo pack ${{ matrix.p }} >> trace"
        sum: { needs: [pack, work], run: "echo sum >> trace" }
      """)
    let run = try place.shell(
      "'\(Self.injector)' coordinator \(call) KILL \(number) \(number) -- $opflow run -j 2"
        + " || true")
    let ended =
      try place.opflow("status", "--json", status: nil).status == 0
      ? try place.status().tasks.filter { $0.state == "succeeded" }.map(\.id) : []
    let before = place.lines()
    let resume = try place.opflow("resume", status: nil)
    if resume.status != 0 {
      // It died before the run had begun.
      #expect(before.isEmpty, "\(call) \(number): \(run) \(resume)")
      return
    }
    let tasks = try place.status().tasks
    #expect(tasks.count == 10, "\(call) \(number): \(tasks.map(\.id))")
    #expect(tasks.allSatisfy { $0.state == "succeeded" }, "\(call) \(number)")
    let words = ["scan", "sum"] + ["a", "b", "c"].flatMap { ["work \($0)", "pack \($0)"] }
    let lines = place.lines()
    for word in words { #expect(lines.contains(word), "\(call) \(number): \(word)") }
    #expect(lines.last == "sum", "\(call) \(number)")
    for id in ended {
      let word = id.replacing("[p=", with: " ").replacing("]", with: "")
      #expect(lines.count { $0 == word } <= 1, "\(call) \(number): \(word) of \(lines)")
    }
    #expect(try place.opflow("journal", "verify").output.contains("intact"))
    place.expectNothingAlive()
  }
}
