import Foundation
import Testing

/// Matrices that read files of the tasks of other matrices, where the run generates both.
struct LaterChainTests {
  private static let chain = """
    max_failures: 0
    tasks:
      list: { run: 'printf "1\\n2\\n" > list.txt' }
      make:
        matrix: { i: { lines: list.txt, after: list } }
        run: 'test ! -e fail-${{ matrix.i }} && touch made.${{ matrix.i }}'
      use: { matrix: { g: { glob: "made.*", after: make } }, run: 'touch used.${{ matrix.g }}; echo ${{ matrix.g }} >> trace' }
      last: { matrix: { u: { glob: "used.*", after: use } }, needs: [make], run: 'echo last >> trace' }
      end: { needs: [last], run: 'echo end >> trace' }
    """

  @Test(arguments: [1, 4])
  func `what reads is begun when all legs of what leaves it have succeeded`(
    _ parallel: Int
  ) throws {
    let place = try Workplace(Self.chain)
    try place.opflow("run", "-j", "\(parallel)")
    #expect(Set(place.lines().prefix(2)) == ["made.1", "made.2"])
    #expect(place.lines().dropFirst(2) == ["last", "last", "end"])
    let journal = try place.journal()
    for (reader, matrixGroup) in [("use", "make["), ("last", "use[")] {
      let start = try #require(
        journal.firstIndex { $0.event == "start" && $0.task == reader })
      let ends = journal.indices.filter {
        journal[$0].event == "success" && journal[$0].task.hasPrefix(matrixGroup)
      }
      #expect(ends.count == 2 && ends.allSatisfy { $0 < start }, "\(reader)")
    }
  }

  @Test func `where a leg fails it waits for the resume that makes that good`() throws {
    let place = try Workplace(Self.chain)
    try place.write("fail-2", "")
    try place.opflow("run", status: 1)
    let status = try place.status()
    #expect(["use", "last", "end"].allSatisfy { status[$0]?.state == "skipped" })
    #expect(place.lines() == [])
    try place.remove("fail-2")
    try place.opflow("resume")
    #expect(place.lines().count == 5 && place.lines().last == "end")
    #expect(try place.status()["make[i=1]"]?.attempts == 1)
  }

  @Test func `what one of its legs leaves anew is read anew`() throws {
    let place = try Workplace(Self.chain)
    try place.opflow("run")
    try place.opflow("resume", "--rerun", "make[i=2]")
    #expect(place.lines().count == 10 && place.lines().last == "end")
    #expect(try place.status()["make[i=1]"]?.attempts == 1)
    #expect(try place.status()["use[g=made.1]"]?.attempts == 2)
  }

  @Test func `one that comes out empty has those behind it come out empty`() throws {
    let place = try Workplace(Self.chain)
    try place.write(
      "opflow.yaml", Self.chain.replacing(#"printf "1\n2\n""#, with: "true"))
    try place.opflow("run")
    #expect(place.lines() == ["end"])
  }

  @Test func `legs that need what waits for them are refused`() throws {
    let place = try Workplace(
      Self.chain.replacing("test ! -e", with: "test ! -e").replacing(
        "matrix: { i: { lines: list.txt, after: list } }",
        with: "matrix: { i: { lines: list.txt, after: list } }\n    needs: [use]"))
    let check = try place.opflow("check", status: 3)
    #expect(check.errors.contains("dependency cycle"), "\(check)")
  }
}
