import Foundation
import Testing

/// The process of a run dies at one of its system calls while tasks are added.
struct AddKillTests {
  private static let injector =
    URL(fileURLWithPath: Program.path).deletingLastPathComponent().path + "/Injector"

  /// Calls of which the growth of a plan's file and the line of the journal are made.
  private static let faults: [(call: String, number: Int)] =
    [1, 2, 20, 40, 46, 47, 48, 49, 50, 70, 90, 120].map { ("pwrite64", $0) }
    + (1...4).map { ("rename", $0) } + (1...2).map { ("ftruncate", $0) }
    + stride(from: 1, through: 40, by: 3).map { ("write", $0) }
    + stride(from: 1, through: 12, by: 2).map { ("fdatasync", $0) }
    + stride(from: 20, through: 80, by: 10).map { ("openat", $0) }

  @Test(arguments: faults.indices)
  func `what was added is there or not at all, and what was said to be is there`(
    _ fault: Int
  ) throws {
    let (call, number) = Self.faults[fault]
    let place = try Workplace(
      """
      tasks:
        a: { run: echo a >> trace }
        work: { needs: a, run: 'echo in > in; read w < out' }
      """)
    let (`in`, out) = (try place.gate("in"), try place.gate("out"))
    let run = try place.startShell(
      "'\(Self.injector)' coordinator \(call) KILL \(number) \(number) -- $opflow run;"
        + " echo over > in")
    // It may die before there is anything to add to.
    guard try `in`.next() == "in" else { return }
    var added: [String] = []
    for name in ["b", "c"] {
      try place.write(
        "\(name).yaml",
        """
        tasks:
          \(name)0: { needs: [a], run: echo \(name)0 >> trace }
          \(name)1: { needs: [\(name)0, work], run: echo \(name)1 >> trace }
        """)
      if try place.opflow("add", "\(name).yaml", status: nil).status == 0 { added.append(name) }
    }
    if added.count == 2 { try out.letGo() }
    _ = try run.finish()
    #expect(try place.opflow("status", status: nil).status == 0, "\(call) \(number)")
    let resume = try place.start("resume")
    if added.count < 2 {
      // An addition that was finished before the death does not prevent further ones.
      while try `in`.next() != "in" {}
      try place.write(
        "d.yaml",
        """
        tasks:
          d0: { needs: [a, work], run: echo d0 >> trace }
          d1: { needs: [d0], run: echo d1 >> trace }
        """)
      for name in ["d", "b"] {
        let add = try place.opflow("add", "\(name).yaml", status: nil)
        #expect(add.status == 0, "\(call) \(number): \(add)")
        added.append(name)
      }
    }
    try out.letGo()
    let end = try resume.finish()
    #expect(end.status == 0, "\(call) \(number): \(end)")
    let ids = Set(try place.status().tasks.map(\.id))
    for name in ["b", "c", "d"] {
      let isThere = ids.contains("\(name)0")
      #expect(ids.contains("\(name)1") == isThere, "\(call) \(number)")
      if added.contains(name) { #expect(isThere, "\(call) \(number)") }
      #expect(place.lines().contains("\(name)1") == isThere, "\(call) \(number)")
    }
    let listed = try place.journal().filter { $0.event == "extend" }.count
    #expect(ids.count == 2 + 2 * listed, "\(call) \(number)")
    #expect(try place.entries(place.runFolder() + "/added").count == listed, "\(call) \(number)")
    place.expectNothingAlive()
  }

  /// How often a run that tasks are added to calls fsync(2).
  private func syncs(adding: Bool, durability: String) throws -> Int {
    let place = try Workplace("tasks: { work: { run: 'echo in > in; read w < out' } }")
    let (`in`, out) = (try place.gate("in"), try place.gate("out"))
    let run = try place.startShell(
      "exec '\(Self.injector)' count calls -- $opflow run --durability \(durability)")
    _ = try `in`.next()
    try place.write("b.yaml", "tasks: { b: { run: 'true' } }")
    if adding { try place.opflow("add", "b.yaml") }
    try out.letGo()
    #expect(try run.finish().status == 0)
    guard let line = place.lines("calls").first(where: { $0.hasPrefix("coordinator fsync ") })
    else { return 0 }
    let words: [Substring] = line.split(separator: " ")
    return Int(words[words.count - 1]) ?? 0
  }

  @Test(arguments: [("none", 0), ("group", 2)])
  func `the plan and its name are synced with what was added, where a run syncs`(
    _ durability: String, _ count: Int
  ) throws {
    let before = try syncs(adding: false, durability: durability)
    #expect(try syncs(adding: true, durability: durability) == before + count)
  }

  @Test func `a disk that is full is told as that, and more can be added when it has room`() throws
  {
    let place = try Workplace("tasks: { work: { run: 'echo in > in; read w < out' } }")
    let (`in`, out) = (try place.gate("in"), try place.gate("out"))
    let run = try place.startShell(
      "exec '\(Self.injector)' coordinator ftruncate 28 2 2 -- $opflow run")
    _ = try `in`.next()
    try place.write("more.yaml", "tasks: { more: { run: echo more >> trace } }")
    let refused = try place.opflow("add", "more.yaml", status: 74)
    #expect(refused.errors.contains("add: cannot write "), "\(refused)")
    try place.opflow("add", "more.yaml")
    try out.letGo()
    #expect(try run.finish().status == 0)
    #expect(place.lines() == ["more"])
  }
}
