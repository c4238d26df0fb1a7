import Testing

/// What users have where tasks leave their results: a cache takes none of it away.
struct CachedUserFileTests {
  private static let manifest = """
    tasks:
      a:
        inputs: [src]
        outputs: [o, 'p/*']
        cache: true
        run: |
          echo a >> trace
          mkdir -p o/in p
          for word in $(cat src); do echo "$word" > o/$word; echo "$word" > p/$word; done
          test ! -e also || cp also o/in/also
    """

  private func place(_ manifest: String = manifest) throws -> Workplace {
    let place = try Workplace(manifest)
    try place.write("src", "one\n")
    return place
  }

  /// Whether the task ran in another run, and what is told.
  private func run(_ place: Workplace, _ flags: String = "") throws -> (didRun: Bool, told: String)
  {
    try place.shell("rm -f trace; \"$opflow\" run --output line \(flags) > told 2>&1")
    return (!place.lines().isEmpty, try place.text("told"))
  }

  @Test(arguments: ["", "--no-cache"])
  func `what was beside the results before a task started is never removed`(_ flags: String) throws
  {
    let place = try place()
    #expect(try run(place).didRun)
    try place.shell("rm o/one p/one; mkdir o/mine; echo mine > o/NOTES; echo mine > p/NOTES")
    try place.write("src", "two\n")
    #expect(try run(place, flags).didRun)
    try place.write("src", "one\n")
    let back = try run(place)
    #expect(!back.didRun, "\(back.told)")
    try place.shell("test -d o/mine && cat o/NOTES p/NOTES o/one p/one && test ! -e o/two")
  }

  @Test func `what was beside the results and was edited stays as it is`() throws {
    let place = try place()
    try place.shell("mkdir o; echo old > o/NOTES")
    #expect(try run(place).didRun)
    try place.shell("echo new > o/NOTES; rm o/one p/one")
    try place.write("src", "two\n")
    #expect(try run(place).didRun)
    try place.write("src", "one\n")
    let again = try run(place)
    #expect(again.didRun, "\(again.told)")
    #expect(again.told.contains("`o/NOTES` is not what the task left there"), "\(again.told)")
    #expect(try place.text("o/NOTES") == "new\n")
  }

  @Test func `what the task made stays its own though it is left as it was`() throws {
    let place = try place(
      """
      tasks:
        a:
          inputs: [src]
          outputs: [o]
          cache: true
          run: 'echo a >> trace; mkdir -p o; for w in $(cat src); do test -e o/$w || echo $w > o/$w; done'
      """)
    #expect(try run(place).didRun)
    try place.write("src", "one two\n")
    #expect(try run(place).didRun)
    try place.write("src", "one two\n\n")
    #expect(try run(place).didRun)
    try place.write("src", "one\n")
    let back = try run(place)
    #expect(!back.didRun, "\(back.told)")
    #expect(place.entries("o") == ["one"])
  }

  @Test func `what was changed where a result would come is not overwritten, and is named`() throws
  {
    let place = try place()
    #expect(try run(place).didRun)
    try place.write("o/one", "mine\n")
    let again = try run(place)
    #expect(again.didRun)
    let warning = "task a: `o/one` is not what the task left there"
    #expect(again.told.contains(warning), "\(again.told)")
    // Nothing of the other outputs came back either: this task leaves what it does not make.
    try place.shell("rm -r o p .opflow/records; mkdir p; echo mine > p/one")
    #expect(try run(place).told.contains("`p/one` is not what"))
    try place.shell("rm -r o p .opflow/records; mkdir p; echo one > p/one")
    #expect(try run(place).didRun == false)
  }

  @Test func `what stands in the way is named, whatever it is`() throws {
    let place = try place()
    #expect(try run(place).didRun)
    for (obstacle, name) in [
      ("rm -r o; mkdir e; ln -s e o", "o"),
      ("rm p/one; mkdir p/one; touch p/one/x", "p/one"), ("rm -r o; mkfifo o", "o"),
    ] {
      try place.shell("rm -rf o p .opflow/records trace")
      try place.shell("\"$opflow\" run -q; \(obstacle)")
      let again = try place.shell(
        "timeout 20 \"$opflow\" run --output line 2>&1", status: nil)
      #expect(again.output.contains("`\(name)` is not what the task left"), "\(again)")
      try place.shell("rm -rf o p e")
    }
  }
}
