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

  /// Returns whether the task ran in another run, and the output.
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
    #expect(again.told.contains("`o/NOTES` is not as the task left it"), "\(again.told)")
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

  @Test func `an edited output that the task wrote itself is replaced, as the task would do`()
    throws
  {
    let place = try place()
    #expect(try run(place).didRun)
    try place.write("o/one", "mine\n")
    let again = try run(place)
    #expect(!again.didRun, "\(again.told)")
    #expect(try place.text("o/one") == "one\n")
  }

  @Test func `an edited output that the task does not write again stays as it is`() throws {
    let place = try place(
      """
      tasks:
        a:
          inputs: [src]
          outputs: [o]
          cache: true
          run: 'echo a >> trace; mkdir -p o; cp src o/copy; test -e o/once || echo made > o/once'
      """)
    for text in ["one\n", "two\n"] {
      try place.write("src", text)
      #expect(try run(place).didRun)
    }
    try place.write("o/once", "mine\n")
    try place.write("src", "one\n")
    let again = try run(place)
    #expect(again.didRun, "\(again.told)")
    #expect(again.told.contains("`o/once` is not as the task left it"), "\(again.told)")
    #expect(try place.text("o/once") == "mine\n")
  }

  @Test func `what lies there without a record is not overwritten, and is named`() throws {
    let place = try place()
    #expect(try run(place).didRun)
    try place.shell("rm -r o p .opflow/records; mkdir p; echo mine > p/one")
    #expect(try run(place).told.contains("`p/one` is not as the task left it"))
    try place.shell("rm -r o p .opflow/records; mkdir p; echo one > p/one")
    #expect(try run(place).didRun == false)
  }

  /// With the source `bad`, the task fails after some of its outputs.
  private static let failing = """
    tasks:
      a:
        inputs: [src]
        outputs: [o]
        cache: true
        run: |
          echo a >> trace
          cp .opflow/records started
          mkdir -p o; rm -f o/junk o/good; cp src o/copy
          if grep -q bad src; then touch o/junk; exit 1; fi
          touch o/good
    """

  /// A success, a failure, and the source as it was before.
  private func failed() throws -> Workplace {
    let place = try place(Self.failing)
    try place.shell("mkdir o; echo mine > o/NOTES")
    #expect(try run(place).didRun)
    try place.write("src", "bad\n")
    try place.shell("\"$opflow\" run -q 2>/dev/null", status: 1)
    #expect(place.entries("o") == ["NOTES", "copy", "junk"])
    try place.write("src", "one\n")
    return place
  }

  @Test func `what a failed attempt left is replaced, or removed where the result lacks it`() throws
  {
    let place = try failed()
    let back = try run(place)
    #expect(!back.didRun, "\(back.told)")
    #expect(place.entries("o") == ["NOTES", "copy", "good"])
    #expect(try place.text("o/copy") == "one\n")
  }

  @Test func `what somebody edited after a failed attempt is not removed`() throws {
    let place = try failed()
    try place.write("o/junk", "mine\n")
    try place.write("o/more", "mine\n")
    let back = try run(place)
    #expect(!back.didRun, "\(back.told)")
    #expect(place.entries("o") == ["NOTES", "copy", "good", "junk", "more"])
  }

  @Test func `what an attempt left of which nobody saw the end is replaced, and the rest stays`()
    throws
  {
    let place = try failed()
    // As after the death of all processes in the middle of the attempt, and once more.
    for _ in 0..<2 {
      try place.shell("cp started .opflow/records")
      let back = try run(place)
      #expect(!back.didRun, "\(back.told)")
      #expect(place.entries("o") == ["NOTES", "copy", "good", "junk"])
      #expect(try place.text("o/copy") == "one\n")
      try place.write("o/copy", "half\n")
    }
    // Files from before the attempt belong to the user.
    try place.shell("cp started .opflow/records; echo new > o/NOTES")
    let again = try run(place)
    #expect(again.told.contains("`o/NOTES` is not as the task left it"), "\(again.told)")
    #expect(try place.text("o/NOTES") == "new\n")
  }

  @Test func `an edit of a file that was there, and that is an input by a pattern, stays`() throws {
    let place = try place(
      """
      tasks:
        a:
          inputs: [src, 'o/*/f']
          outputs: 'o/d/*'
          cache: true
          run: 'echo a >> trace; echo made >> o/d/f; cp src o/d/own'
      """)
    try place.write("o/d/f", "mine\n")
    #expect(try run(place).didRun)
    try place.write("o/d/f", "edited\n")
    let again = try run(place)
    #expect(again.didRun, "\(again.told)")
    #expect(again.told.contains("`o/d/f` is not as the task left it"), "\(again.told)")
    #expect(try place.text("o/d/f") == "edited\nmade\n")
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
      #expect(again.output.contains("`\(name)` is not as the task left it"), "\(again)")
      try place.shell("rm -rf o p e")
    }
  }
}
