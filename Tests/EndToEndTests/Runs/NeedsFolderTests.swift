import Testing

/// `$OPFLOW_NEEDS`: what the needs of a task left, as files.
struct NeedsFolderTests {
  private static let tests = """
    tasks:
      version: { run: "echo 1.2 > $OPFLOW_VALUES/tag; echo main > $OPFLOW_VALUES/branch" }
      test:
        matrix: { os: [linux, "a/b"], mode: [debug, "x y"] }
        run: |
          test "$OS$MODE" = linuxdebug || printf '%s\\n' "$OS-$MODE" > $OPFLOW_VALUES/mark
          echo 7 > $OPFLOW_VALUES/count
        env: { OS: "${{ matrix.os }}", MODE: "${{ matrix.mode }}" }
      report:
        needs: [version, test]
        run: |
          cd "$OPFLOW_NEEDS" && find . -type f | LC_ALL=C sort > $OLDPWD/found
          cat version/tag test/mark/* >> $OLDPWD/trace

    """

  @Test func `values are there by task and name, and by matrix task`() throws {
    let place = try Workplace(Self.tests)
    try place.opflow("run")
    #expect(
      place.lines("found") == [
        "./test/count/os=a%2Fb,mode=debug", "./test/count/os=a%2Fb,mode=x%20y",
        "./test/count/os=linux,mode=debug",
        "./test/count/os=linux,mode=x%20y", "./test/mark/os=a%2Fb,mode=debug",
        "./test/mark/os=a%2Fb,mode=x%20y",
        "./test/mark/os=linux,mode=x%20y", "./version/branch", "./version/tag",
      ])
    #expect(place.lines() == ["1.2", "a/b-debug", "a/b-x y", "linux-x y"])
    // The copies are gone, the values are not.
    let kept = try place.shell("ls -d .opflow/runs/*/values/*").outputLines
    #expect(!kept.contains { $0.hasSuffix(".needs") })
    #expect(kept.contains { $0.hasSuffix("/version.1") })
  }

  @Test func `only matrix tasks that are dependencies are there`() throws {
    let place = try Workplace(
      """
      tasks:
        build: { matrix: { arch: [arm, x86, old] }, run: "echo hi > $OPFLOW_VALUES/v" }
        pack: { needs: ["build[arch=arm]", "build[arch=x86]"], run: "ls $OPFLOW_NEEDS/build/v > found" }
        none: { needs: [pack], run: "test -d $OPFLOW_NEEDS && ls -A $OPFLOW_NEEDS > empty" }
        no: { run: "echo ${OPFLOW_NEEDS-unset} > unset" }
        inherits: { needs: [pack], run: [./show] }
      """)
    try place.writeProgram("show", "#!/bin/sh\necho ${OPFLOW_NEEDS-unset} > inherits\n")
    try place.shell("OPFLOW_NEEDS=/nowhere exec \"$opflow\" run")
    #expect(place.lines("found") == ["arch=arm", "arch=x86"])
    #expect(try place.text("empty") == "")
    #expect(place.lines("unset") == ["unset"])
    #expect(place.lines("inherits") == ["unset"])
  }

  @Test func `what a task does to its copies changes no value`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "echo 1 > $OPFLOW_VALUES/v" }
        b: { needs: [a], run: "echo 2 > $OPFLOW_NEEDS/a/v; mkdir $OPFLOW_NEEDS/x; ln -s /nowhere $OPFLOW_NEEDS/x/l" }
        c: { needs: [a, b], env: { V: "${{ needs.a.v }}" }, run: "cat $OPFLOW_NEEDS/a/v >> trace; echo $V >> trace" }
      """)
    try place.opflow("run")
    #expect(place.lines() == ["1", "1"])
    #expect(try place.shell("find .opflow -name '*.needs'").output == "")
  }

  @Test func `another value of any need has the task run again`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "cat in > $OPFLOW_VALUES/v" }
        b: { needs: [a], run: "cat $OPFLOW_NEEDS/a/* >> trace; test -e ok" }
        c: { needs: [b], run: "true" }
      """)
    try place.write("in", "one\n")
    try place.opflow("run", status: 1)
    try place.write("ok", "")
    try place.opflow("resume")
    try place.opflow("resume")
    #expect(place.lines() == ["one", "one"])
    try place.write("in", "two\n")
    try place.opflow("resume", "--rerun", "a")
    #expect(place.lines() == ["one", "one", "two"])
  }

  @Test func `a value that is lost is left anew for who finds it as a file`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "echo a >> trace; echo 1 > $OPFLOW_VALUES/v" }
        b: { needs: [a], run: "cat $OPFLOW_NEEDS/a/v >> trace; test -e ok" }
      """)
    try place.opflow("run", status: 1)
    try place.write("ok", "")
    try place.shell("rm .opflow/runs/*/values/a.1/v")
    try place.opflow("resume")
    #expect(place.lines() == ["a", "1", "a", "1"])
  }

  @Test func `needs that left nothing leave the folder empty`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "echo 1 > $OPFLOW_VALUES/v; exit 1", allow_failure: true }
        off: { if: "false", run: "echo 1 > $OPFLOW_VALUES/v" }
        b: { needs: [a, off], run: "find $OPFLOW_NEEDS -mindepth 1 > found" }
      """)
    try place.opflow("run")
    #expect(try place.text("found") == "")
  }
}
