import Foundation
import Testing

/// Resumes of runs whose files were edited and later removed: they use the copies of the last
/// session, not of the first.
struct KeptFileTests {
  /// A project that was run, edited, resumed and is about to lose its files: `up` ran with the new
  /// text, and `last` has failed twice.
  private func edited() throws -> Workplace {
    let place = try Workplace()
    try place.write(
      "p/opflow.yaml",
      """
      include: [{ path: db/tasks.yaml, as: db }]
      env_file: [v.env]
      tasks:
        leg: { matrix: { rows: sheet.tsv }, run: "echo ${{ matrix.text }} >> trace" }
        env: { run: "echo ${{ env.V }} >> trace" }
        own: { run: "echo old-own >> trace" }
        last: { needs: [db/up, leg, env, own], run: "test -e ok; echo last >> trace" }
      """)
    try place.write("p/db/tasks.yaml", "tasks: { up: { run: 'echo old-up >> ../trace' } }")
    try place.write("p/sheet.tsv", "name\ttext\na\told-leg\n")
    try place.write("p/v.env", "V=old-env\n")
    try place.opflow("run", status: 1, in: place.file("p"))
    #expect(place.lines("p/trace").sorted() == ["old-env", "old-leg", "old-own", "old-up"])
    try place.shell(
      "cd p && : > trace && sed -i s/old-/new-/ opflow.yaml db/tasks.yaml sheet.tsv v.env")
    return place
  }

  @Test(arguments: [
    "db/tasks.yaml", "sheet.tsv", "v.env", "opflow.yaml",
    "opflow.yaml db/tasks.yaml sheet.tsv v.env",
  ])
  func `a resume uses the copy of the last session for a missing file`(_ files: String) throws {
    let place = try edited()
    try place.opflow("resume", status: 1, in: place.file("p"))
    #expect(place.lines("p/trace").sorted() == ["new-env", "new-leg", "new-own", "new-up"])
    // Twice, since a resume that finds one gone writes too.
    let turns: [(String, Int32)] = [("false", 1), ("touch ok", 0)]
    for (ok, status) in turns {
      let resume = try place.shell(
        "cd p && : > trace && rm -f \(files) && (\(ok) || true) && $opflow resume", status: status)
      let ran: [String] = status == 0 ? ["last"] : []
      #expect(place.lines("p/trace") == ran, "\(resume)")
      let names = files.replacingOccurrences(of: "opflow.yaml", with: place.file("p/opflow.yaml"))
        .components(separatedBy: " ").sorted()
      let told = resume.errorLines.first {
        $0.contains("missing; opflow uses the copies of the last session: ")
      }
      let list: String = told?.components(separatedBy: "of the last session: ").last ?? ""
      let gone: [String] = list.components(separatedBy: ", ").sorted()
      #expect(gone == names, "\(resume)")
    }
  }

  /// Both forms of one letter are equal strings in Swift, but two files.
  @Test func `files whose names are equal only in Unicode are kept apart`() throws {
    let place = try Workplace()
    let names = ["\u{e9}.env", "e\u{301}.env"]
    try place.write(
      "opflow.yaml",
      """
      env_file: [\(names[0]), \(names[1])]
      tasks: { a: { run: "test -e ok; echo $V >> trace" } }
      """)
    for name in names { try place.write(name, "V=kept\n") }
    try place.opflow("run", status: 1)
    try place.shell("rm -f *.env; touch ok")
    let resume = try place.opflow("resume")
    #expect(place.lines() == ["kept"])
    for name in names {
      #expect(resume.errors.utf8.contains(name.utf8), "\(resume)")
    }
  }

  @Test func `a file that only the first session read has no copy`() throws {
    let place = try edited()
    try place.write("p/opflow.yaml", "tasks: { last: { run: 'test -e ok' } }")
    try place.opflow("resume", status: 1, in: place.file("p"))
    try place.write(
      "p/opflow.yaml", "include: [db/tasks.yaml]\ntasks: { last: { run: 'test -e ok' } }")
    try place.remove("p/db/tasks.yaml")
    let resume = try place.opflow("resume", status: 3, in: place.file("p"))
    #expect(resume.errors.contains("no such file"), "\(resume)")
  }

  @Test func `a manifest from standard input is kept as it came last`() throws {
    let place = try Workplace()
    let manifest = "tasks: { a: { run: 'echo old >> trace' }, b: { needs: a, run: 'test -e ok' } }"
    try place.opflow("run", "-", status: 1, input: manifest)
    try place.opflow(
      "run", "--resume", "-", status: 1,
      input: manifest.replacingOccurrences(of: "old", with: "new"))
    #expect(place.lines() == ["old", "new"])
    try place.write("ok", "")
    let resume = try place.opflow("resume")
    #expect(place.lines() == ["old", "new"], "\(resume)")
    #expect(!resume.errors.contains("missing; opflow uses the copies"), "\(resume)")
  }

  /// What a resume that was killed may leave: each file is put in its place as a whole, so that
  /// these are all the states there are.
  @Test(arguments: [
    ["included"], ["included", "manifest.yaml"], ["included", "manifest.yaml", "plan"],
  ])
  func `a resume that was killed while it kept its files leaves those that the journal names`(
    _ written: [String]
  ) throws {
    let place = try edited()
    try place.shell(
      """
      cd p/.opflow/runs/* && mkdir $HOME/before && cp included manifest.yaml plan journal.log \
        $HOME/before
      """)
    defer { _ = try? place.shell("rm -r $HOME/before") }
    try place.opflow("resume", status: 1, in: place.file("p"))
    for name in ["included", "manifest.yaml", "plan", "journal.log"] where !written.contains(name) {
      try place.shell("cd p/.opflow/runs/* && cp -f $HOME/before/\(name) \(name)")
    }
    try place.shell("cd p && : > trace && touch ok && rm opflow.yaml db/tasks.yaml sheet.tsv v.env")
    let resume = try place.opflow("resume", in: place.file("p"))
    #expect(place.lines("p/trace") == ["last"], "\(resume)")
  }

  @Test(.enabled(if: DiskTests.canMount, "mounting a file system needs root"))
  func `a full disk while files are kept is a clear error, and loses none`() throws {
    let place = try edited()
    try place.write("m/x", "")
    try place.shell("mount -t tmpfs -o size=256k none m")
    defer { _ = try? place.shell("umount m") }
    try place.shell(
      "cp -a p m && rm -r p && cd m/p && sed -i '$a #\(String(repeating: "x", count: 20000))' v.env"
    )
    try place.shell("head -c 1M /dev/zero > m/full || true", status: 0)
    let full = try place.opflow("resume", status: 74, in: place.file("m/p"))
    #expect(full.errors.contains("/included: No space left on device"), "\(full)")
    try place.shell("cd m/p && rm ../full opflow.yaml db/tasks.yaml v.env sheet.tsv && touch ok")
    let resume = try place.opflow("resume", in: place.file("m/p"))
    #expect(place.lines("m/p/trace") == ["last"], "\(resume)")
  }
}
