import Testing

/// Manifests that are no plain files, and names that are no text.
struct ManifestSourceTests {
  private static let manifest = "tasks: { a: { run: echo a >> trace } }"

  @Test(arguments: ["<(cat m.txt)", "/dev/stdin < <(cat m.txt)", "/dev/stdin < m.txt", "- < m.txt"])
  func `a manifest may come from a pipe`(words: String) throws {
    let place = try Workplace()
    try place.write("m.txt", Self.manifest)
    #expect(
      try place.shell("\"$opflow\" check \(words)").output.hasSuffix(": 1 task, no errors\n"))
    try place.shell("\"$opflow\" plan \(words)")
    try place.shell("\"$opflow\" run \(words)")
    #expect(place.lines() == ["a"])
    #expect(place.exists(".opflow"))
  }

  @Test func `a here-document has a mistake's place`() throws {
    let place = try Workplace()
    let check = try place.shell(
      "\"$opflow\" check /dev/stdin <<'END'\ntasks: { a: { rum: x } }\nEND\n", status: 3)
    #expect(check.errors.hasPrefix("/dev/stdin:1:15: error:"))
  }

  @Test func `a FIFO is read once, and a resume takes the copy`() throws {
    let place = try Workplace()
    try place.write(
      "m.txt", "tasks: { a: { run: test -e ok }, b: { needs: [a], run: echo b >> trace } }")
    try place.shell("mkfifo pipe; cat m.txt > pipe & exec \"$opflow\" run -f pipe", status: 1)
    try place.write("ok", "")
    try place.opflow("resume")
    #expect(place.lines() == ["b"])
  }

  @Test func `a name that is not UTF-8 is told, by every command`() throws {
    let place = try Workplace()
    try place.write("m.yaml", Self.manifest)
    try place.shell("cp m.yaml $'m\\xff.yaml'; mkdir $'d\\xff'; cp m.yaml $'d\\xff/opflow.yaml'")
    for command in ["run", "check", "plan", "status", "resume", "logs", "journal verify"] {
      let file = try place.shell("\"$opflow\" \(command) $'m\\xff.yaml'", status: 2)
      #expect(file.errors.contains("`m\u{FFFD}.yaml` is not UTF-8"))
      let folder = try place.shell("cd $'d\\xff' && \"$opflow\" \(command)", status: 2)
      #expect(
        folder.errors.contains("not UTF-8; rename the file or folder"), "\(command): \(folder)")
    }
    for line in ["-C $'d\\xff'", "run -C $'d\\xff'", "run --state-dir $'d\\xff' m.yaml"] {
      #expect(try place.shell("\"$opflow\" \(line)", status: 2).errors.contains("is not UTF-8"))
    }
    // By a link it has a name, and still no path.
    try place.shell("ln -s $'m\\xff.yaml' link.yaml; ln -s $'d\\xff' dir")
    for word in ["link.yaml", "dir/opflow.yaml", "dir/"] {
      #expect(try place.opflow("run", word, status: 2).errors.contains("the path is not UTF-8"))
    }
    try place.shell("\"$opflow\" run - < $'m\\xff.yaml'")
    #expect(place.lines() == ["a"])
  }

  @Test func `what a run leaves is kept out of git once`() throws {
    let place = try Workplace()
    try place.write("opflow.yaml", Self.manifest)
    try place.opflow("plan")
    #expect(!place.exists(".opflow"))
    try place.opflow("run")
    #expect(try place.text(".opflow/.gitignore") == "*\n")
    try place.remove(".opflow/.gitignore")
    try place.opflow("run")
    #expect(!place.exists(".opflow/.gitignore"))
    try place.write(".opflow/.gitignore", "runs\n")
    try place.opflow("run")
    #expect(try place.text(".opflow/.gitignore") == "runs\n")
    try place.opflow("run", "--state-dir", "elsewhere")
    #expect(try place.text("elsewhere/.gitignore") == "*\n")
  }
}
