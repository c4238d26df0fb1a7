import Testing

/// `clean: true`: before a task runs, opflow removes its last outputs, and nothing else.
struct CleanedTaskTests {
  private static let manifest = """
    tasks:
      a:
        inputs: [in]
        outputs: ["out/*"]
        clean: true
        run: |
          echo a >> trace
          cp .opflow/records started
          mkdir -p out
          for name in $(cat in); do echo made > out/$name; done
          if grep -q bad in; then exit 1; fi
    """

  private func place(_ manifest: String = manifest) throws -> Workplace {
    let place = try Workplace(manifest)
    try place.write("in", "1\n")
    return place
  }

  /// Returns the messages.
  @discardableResult
  private func run(_ place: Workplace, _ input: String? = nil, status: Int32 = 0) throws -> String {
    if let input { try place.write("in", input) }
    return try place.opflow("run", "--output", "line", status: status).errors
  }

  @Test func `files of an earlier result are gone when the task runs again`() throws {
    let place = try place()
    try run(place, "1 2\n")
    try run(place, "2 3\n")
    #expect(place.entries("out") == ["2", "3"])
    try run(place)
    #expect(place.lines().count == 2)
  }

  @Test func `a file whose name is not UTF-8 is removed like any other`() throws {
    let place = try place(
      """
      tasks:
        a:
          inputs: [in]
          outputs: ["out/*"]
          clean: true
          run: 'v=$(cat in); echo > "out/$(printf "n\\351$v")"; echo > out/plain$v'
        b:
          inputs: [in]
          outputs: ["kept/*"]
          cache: true
          run: 'rm -f kept/*; if grep -q 2 in; then echo > "kept/$(printf "n\\351")"; else echo > kept/plain; fi'
      """)
    try run(place)
    try run(place, "2\n")
    #expect(try place.shell("ls out | wc -l").output == "2\n")
    #expect(place.entries("out").contains("plain2"))
    // What a cache brings back takes the place of all that is the task's.
    try run(place, "1\n")
    #expect(place.entries("kept") == ["plain"])
  }

  @Test func `what somebody put there or edited stays`() throws {
    let place = try place()
    try place.shell("mkdir out; echo mine > out/before")
    try run(place, "1 2\n")
    try place.shell("echo mine > out/1; echo mine > out/after; touch -d yesterday out/2")
    try run(place, "3\n")
    #expect(place.entries("out") == ["1", "3", "after", "before"])
    #expect(try place.text("out/1") == "mine\n")
    // It is the task's own no more, though it has its name again.
    try run(place, "4\n")
    #expect(place.entries("out") == ["1", "4", "after", "before"])
  }

  @Test(arguments: ["clean", "cache"], [0, 1])
  func `a file from before the first attempt stays when the task changed it`(
    _ key: String, _ exit: Int
  ) throws {
    let place = try place(
      """
      max_failures: 0
      tasks:
        a:
          inputs: [in]
          outputs: ["out/*"]
          \(key): true
          run: |
            for file in out/*; do echo stamp >> $file; done
            chmod -R g+w out
            cp in out/made$(cat in)
            if test $(cat in) = 2; then exit \(exit); fi
      """)
    try place.write("out/mine", "mine\n")
    try run(place)
    try run(place, "2\n", status: Int32(exit))
    try run(place, "3\n")
    if key == "clean" {
      #expect(place.entries("out") == ["made3", "mine"])
      #expect(try place.text("out/mine") == "mine\nstamp\nstamp\nstamp\n")
    } else {
      // The first result lacks what the later ones made.
      try run(place, "1\n")
      #expect(place.entries("out").contains("mine"))
    }
  }

  @Test func `what attempts left that failed, or of which nobody saw the end, is removed`() throws {
    let place = try place()
    try run(place, "1 2\n")
    try run(place, "bad 3\n", status: 1)
    #expect(place.entries("out") == ["3", "bad"])
    try run(place, "4\n")
    #expect(place.entries("out") == ["4"])
    // As after the death of all processes before the first file was removed: what was the task's
    // still is.
    try place.shell("cp -a out before")
    try run(place, "5\n")
    try place.shell("cp started .opflow/records; rm -r out; mv before out; touch out/mine")
    try run(place, "6\n")
    #expect(place.entries("out") == ["6", "mine"])
  }

  @Test func `a link is removed and never what it leads to, and nothing behind a link`() throws {
    let place = try place(
      """
      tasks:
        a:
          inputs: [in]
          outputs: [out, deep/out]
          clean: true
          run: |
            mkdir -p out deep/out/in
            if grep -q 1 in; then ln -s ../kept out/link; ln -s ../kept/file out/file; touch deep/out/in/f; fi
      """)
    try place.shell("mkdir -p kept; touch kept/file")
    try run(place)
    #expect(place.entries("out") == ["file", "link"])
    try place.shell("mv deep far; ln -s far deep")
    let told = try run(place, "2\n")
    #expect(place.entries("out") == [])
    #expect(place.exists("kept/file") && place.exists("far/out/in/f"))
    #expect(told.contains("task a: `deep/out"), "\(told)")
    #expect(told.contains("` is behind a symbolic link, which `clean` does not follow"), "\(told)")
  }

  @Test(arguments: ["", "echo 0 > in; \"$opflow\" run; rm -r out;"])
  func `an output that is a link of the user's is told, and nothing behind it goes`(
    _ before: String
  ) throws {
    let place = try place(
      """
      tasks:
        a: { inputs: [in], outputs: [out], clean: true, run: 'mkdir -p out; touch out/$(cat in)' }
      """)
    try place.shell("\(before) mkdir store; ln -s store out")
    let warning = "task a: `out` is a symbolic link, which `clean` does not follow"
    for input in ["1\n", "2\n"] {
      let told = try run(place, input)
      #expect(told.contains(warning), "\(told)")
    }
    #expect(place.entries("store") == ["1", "2"])
    try place.shell("rm out; mkdir out")
    #expect(try !run(place, "3\n").contains(warning))
  }

  @Test func `folders of the task go where they are empty, whatever their modes`() throws {
    let place = try place(
      """
      tasks:
        a:
          inputs: [in]
          outputs: [out]
          clean: true
          run: |
            ls -A > found
            mkdir -p out/$(cat in)/x; touch out/$(cat in)/x/f; chmod 555 out/$(cat in)/x out/$(cat in)
      """)
    try run(place)
    try place.shell("mkdir out/mine")
    try run(place, "2\n")
    #expect(place.entries("out") == ["2", "mine"])
    try place.shell("stat -c %a out/2 | grep -qx 555; chmod -R u+w out")
  }

  @Test func `what a pattern of another task fits, or the outputs do not name any more, stays`()
    throws
  {
    let manifest = """
      tasks:
        a: { inputs: [in], outputs: ["out/a*", gen], clean: true, run: 'touch out/a$(cat in) out/ab$(cat in) gen' }
        b: { inputs: [in], outputs: ["out/*b*"], run: 'touch out/b' }
      """
    let place = try place(manifest)
    try run(place)
    try place.write(
      "opflow.yaml", manifest.replacing(", gen]", with: "]").replacing(" gen'", with: "'"))
    try run(place, "2\n")
    #expect(place.entries("out") == ["a2", "ab1", "ab2", "b"])
    #expect(place.exists("gen"))
  }

  @Test func `with clean added a task runs once more, and with a cache it is not the same result`()
    throws
  {
    let place = try place(
      Self.manifest.replacing("clean: true", with: "cache: true"))
    try run(place, "1\n")
    try run(place, "2\n")
    #expect(place.entries("out") == ["1", "2"])
    try place.write(
      "opflow.yaml", Self.manifest.replacing("clean: true", with: "clean: true\n    cache: true"))
    try run(place)
    #expect(place.lines().count == 3)
    #expect(place.entries("out") == ["2"])
    try run(place, "1\n")
    try run(place, "2\n")
    #expect(place.lines().count == 4)
    #expect(place.entries("out") == ["2"])
  }
}
