import Foundation
import Testing

/// Old runs, and their removal.
struct CleanTests {
  private static let manifest = "keep_runs: 2\ntasks: { a: { run: 'echo said; test ! -e fail' } }"

  @Test func `the end of a run removes what is beyond keep_runs`() throws {
    let place = try Workplace(Self.manifest)
    for _ in 0..<2 { try place.opflow("run") }
    let first = place.runs
    let run = try place.opflow("run", "-v")
    #expect(
      run.errors.contains(
        "opflow: removed 1 run; the newest 2 of this manifest remain (`keep_runs`)\n"), "\(run)")
    #expect(place.runs.count == 2)
    #expect(Set(place.runs).intersection(first) == [first.max() ?? ""])
    #expect(try place.opflow("run").errors.contains("removed") == false)
    #expect(try place.opflow("logs", "a").output.contains("said"))
  }

  @Test func `a run that can be resumed stays, until a newer one was begun with the same`() throws {
    let place = try Workplace("keep_runs: 1\nvars: { v: x }\ntasks: { a: { run: test ! -e fail } }")
    try place.write("fail", "")
    try place.opflow("run", "--set", "v=1", status: 1)
    let failed = try #require(place.runs.first)
    try place.remove("fail")
    for _ in 0..<3 { try place.opflow("run") }
    #expect(place.runs.count == 2)
    #expect(place.runs.contains(failed))
    #expect(
      try place.opflow("clean").output
        == "nothing to remove; 2 runs remain (old, but kept: 1 resumable)\n")
    try place.opflow("run", "--resume", "--set", "v=1")
    #expect(place.runs.count == 1)
  }

  @Test func `clean keeps of records what is newest, also while a run writes some`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { inputs: [src], outputs: [a], run: "cp src a; cp src $OPFLOW_VALUES/v" }
        b: { inputs: [src], needs: [a], env: { V: "${{ needs.a.v }}" }, run: "test ! -p wait || { echo > here; read line < wait; }" }
      """)
    let size = { try place.bytes(".opflow/records").count }
    try place.write("src", "0")
    try place.opflow("run")
    try place.opflow("clean")
    let first = try size()
    for number in 1...5 {
      try place.write("src", "\(number)")
      try place.opflow("run")
    }
    #expect(try size() > 3 * first)
    let (here, wait) = (try place.gate("here"), try place.gate("wait"))
    try place.write("src", "6")
    let live = try place.start("run")
    _ = try here.next()
    try place.opflow("clean", "--keep", "1")
    // The live run has no records yet.
    #expect(try size() < first)
    try wait.letGo()
    #expect(try live.finish().status == 0)
    #expect(try size() < first + 100)
    try place.remove("wait")
    let run = try place.opflow("run", "--output", "line")
    #expect(run.errors.contains("2 up to date"), "\(run)")
    #expect(!place.entries(".opflow").contains("records.new"))
  }

  @Test func `clean tells what it does, and with -n what it would do`() throws {
    let place = try Workplace(Self.manifest)
    try place.opflow("run")
    try place.opflow("run")
    let runs = place.runs.sorted()
    let shown = try place.opflow("clean", "--keep", "1", "-n")
    #expect(shown.outputLines.count == 3, "\(shown)")
    #expect(shown.outputLines[1].hasPrefix(runs[0] + "  succeeded  just now"), "\(shown)")
    #expect(shown.outputLines[1].hasSuffix("opflow.yaml"), "\(shown)")
    #expect(shown.outputLines[2].hasPrefix("would remove 1 run, "), "\(shown)")
    #expect(shown.outputLines[2].hasSuffix("; 1 run remains"), "\(shown)")
    #expect(place.runs.count == 2)
    let cleaned = try place.opflow("clean", "--keep=1")
    #expect(
      cleaned.output == shown.outputLines[2].replacing("would remove", with: "removed") + "\n")
    #expect(place.runs == [runs[1]])
    let gone = try place.opflow("resume", runs[0], status: 2)
    #expect(
      gone.errors.contains(
        "no run with ID `\(runs[0])`; `opflow runs` lists all runs (`opflow clean` and `keep_runs`"
          + " remove old ones)"), "\(gone)")
    try place.opflow("clean", "--older-than", "0s", "--keep", "0")
    #expect(place.runs.isEmpty)
    // Nothing is missed.
    try place.opflow("run")
  }

  @Test func `a live run is left alone, by clean and by the end of another`() throws {
    let place = try Workplace(
      "keep_runs: 1\ntasks: { a: { run: 'test -e quick || { echo here > here; read x < go; }' } }")
    let here = try place.gate("here")
    let go = try place.gate("go")
    let live = try place.start("run")
    _ = try here.next()
    let run = try #require(place.runs.first)
    try place.write("quick", "")
    try place.opflow("run")
    try place.opflow("run")
    #expect(place.runs.count == 2)
    let cleaned = try place.opflow("clean", "--keep", "0", "--older-than", "0")
    #expect(cleaned.output.contains("; 1 run remains (old, but kept: 1 live)\n"), "\(cleaned)")
    #expect(place.runs == [run])
    try go.letGo()
    #expect(try live.finish().status == 0)
    #expect(try place.journal().allSatisfy(\.isIntact))
  }

  @Test func `what cannot be removed is named, and the rest goes`() throws {
    let place = try Workplace(Self.manifest)
    try place.opflow("run")
    try place.opflow("run")
    let runs = place.runs.sorted()
    try place.shell("mv .opflow/runs/\(runs[1]) kept && ln -s ../../kept .opflow/runs/\(runs[1])")
    let cleaned = try place.opflow("clean", "--keep", "0", status: 74)
    #expect(cleaned.errors.contains("cannot remove "), "\(cleaned)")
    #expect(cleaned.errors.contains(runs[1]), "\(cleaned)")
    #expect(place.runs == [runs[1]])
    #expect(place.entries("kept").contains("journal.log"))
  }

  @Test func `clean says where it looks, when that is not here`() throws {
    let place = try Workplace(Self.manifest)
    try place.opflow("run")
    try place.shell("mkdir sub")
    let above = try place.opflow("clean", "--keep", "0", "-n", in: place.file("sub"))
    #expect(above.errors.hasPrefix("opflow: using "), "\(above)")
    #expect(above.errors.hasSuffix(".opflow\n"), "\(above)")
    #expect(try place.opflow("clean", "-n").errors.isEmpty)
  }

  @Test func `a wrong duration is a mistake`() throws {
    let place = try Workplace(Self.manifest)
    // A bare number would be seconds.
    try place.opflow("clean", "--older-than", "7", status: 2)
    let wrong = try place.opflow("clean", "--older-than", "soon", status: 2)
    #expect(
      wrong.errors.hasPrefix(
        "opflow clean: --older-than needs a duration with a unit, such as 12h, 7d or 1h30m, not "
          + "`soon`\n"))
  }
}
