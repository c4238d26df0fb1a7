import Foundation
import Glibc
import Testing

/// `OPFLOW_TMP`: there for each task, empty for each, and gone with it.
struct TaskFolderTests {
  /// A place for folders of tasks that nobody else uses.
  private func environment(_ place: Workplace) throws -> [String: String] {
    try FileManager.default.createDirectory(
      atPath: place.file("tmp"), withIntermediateDirectories: true)
    return ["TMPDIR": place.file("tmp")]
  }

  private func left(_ place: Workplace) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: place.file("tmp"))
  }

  @Test func `a task finds a folder of its own that is empty, and leaves nothing`() throws {
    let look = "ls -A \\\"$OPFLOW_TMP\\\" >> seen; stat -c %a \\\"$OPFLOW_TMP\\\" >> modes"
    let place = try Workplace(
      """
      max_parallel: 1
      tasks:
        a: { run: "\(look); touch $OPFLOW_TMP/file; exit 3", allow_failure: true }
        b: { run: "\(look); mkdir -p $OPFLOW_TMP/x/y; touch $OPFLOW_TMP/x/y/z; chmod 0 $OPFLOW_TMP/x/y $OPFLOW_TMP/x $OPFLOW_TMP" }
        c: { run: "\(look); ln -s $PWD/kept $OPFLOW_TMP/link; mkdir $OPFLOW_TMP/d; ln -s $PWD $OPFLOW_TMP/d/l" }
        d: { run: "\(look); rm -rf $OPFLOW_TMP" }
        e: { run: "\(look); mv $OPFLOW_TMP moved; ln -s $PWD $OPFLOW_TMP" }
        f: { run: "\(look); printf x > \\"$OPFLOW_TMP/$(printf '\\\\377a\\\\nb')\\"" }
        g: { run: "\(look); cd $OPFLOW_TMP; for i in $(seq 300); do mkdir -p d/e; cd d; done; touch f" }
        h: { run: "\(look)" }
      """)
    try place.write("kept/file", "")
    try place.opflow("run", environment: try environment(place))
    #expect(place.lines("seen") == [])
    #expect(place.lines("modes") == [String](repeating: "700", count: 8))
    #expect(place.exists("kept/file") && place.exists("moved"))
    #expect(try left(place) == [])
  }

  @Test func `a task whose folder cannot be emptied leaves it alone, and the next has another`()
    throws
  {
    let place = try Workplace(
      """
      max_parallel: 1
      tasks:
        a: { run: 'echo x > $OPFLOW_TMP/file; echo $OPFLOW_TMP >> paths; chattr +i $OPFLOW_TMP/file || touch lacking' }
        b: { needs: [a], run: 'ls -A $OPFLOW_TMP >> seen; echo $OPFLOW_TMP >> paths' }
      """)
    try place.opflow("run", environment: try environment(place))
    defer { _ = try? place.shell("chattr -i tmp/*/file; rm -r tmp", status: nil) }
    if place.exists("lacking") { try Test.cancel("files cannot be made immutable here") }
    #expect(place.lines("seen") == [])
    #expect(Set(place.lines("paths")).count == 2)
    #expect(try left(place).count == 1)
  }

  @Test func `two tasks at once have two folders`() throws {
    let place = try Workplace(
      """
      max_parallel: 2
      tasks:
        a: { run: 'echo "$OPFLOW_TMP" >> paths; echo go > to-b; read x < to-a' }
        b: { run: 'echo "$OPFLOW_TMP" >> paths; echo go > to-a; read x < to-b' }
      """)
    for name in ["to-a", "to-b"] { _ = try place.gate(name) }
    try place.opflow("run", environment: try environment(place))
    let paths = place.lines("paths")
    #expect(paths.count == 2 && Set(paths).count == 2)
    #expect(try left(place) == [])
  }

  @Test(arguments: ["kill -9 $PPID", "timeout"])
  func `nothing is left of a task whose worker is killed, or that takes too long`(
    _ end: String
  ) throws {
    let place = try Workplace(
      """
      tasks:
        a:
          run: 'touch $OPFLOW_TMP/file; \(end == "timeout" ? "read x < never" : end)'
          \(end == "timeout" ? "timeout: 100ms" : "on_interrupted: fail")
      """)
    _ = try place.gate("never")
    try place.opflow("run", status: 1, environment: try environment(place))
    #expect(try left(place) == [])
  }

  @Test func `a resume removes what is left when all are killed at once`() throws {
    let place = try Workplace(
      """
      tasks: { a: { run: 'ls -A $OPFLOW_TMP >> seen; echo x > $OPFLOW_TMP/file; \
      echo $PPID > here; read x < go' } }
      """
    )
    let environment = try environment(place)
    let here = try place.gate("here")
    let go = try place.gate("go")
    let run = try place.start("run", environment: environment)
    let worker = try #require(Int32(try here.next()))
    // Neither sees the other end: a stopped worker continues when its coordinator is killed.
    run.send(SIGSTOP)
    #expect(kill(worker, SIGKILL) == 0)
    run.send(SIGKILL)
    _ = try run.finish()
    let name = try #require(try left(place).first)
    let id = try #require(place.runs.first)
    #expect(name.hasPrefix("opflow-\(id)-\(worker)-"))
    // Of another run, and of nobody.
    try place.write("tmp/opflow-\(id)0-\(worker)-1/file", "")
    try place.write("kept/file", "")
    try place.shell("ln -s ../kept tmp/opflow-\(id)-1-1; ln -s ../../kept tmp/\(name)/link")
    let resume = try place.start("resume", environment: environment)
    _ = try here.next()
    try go.letGo()
    #expect(try resume.finish().status == 0)
    #expect(place.lines("seen") == [])
    #expect(
      try left(place).sorted() == ["opflow-\(id)-1-1", "opflow-\(id)0-\(worker)-1"].sorted())
    #expect(place.exists("kept/file"))
  }

  @Test func `a cancelled run leaves nothing, and its finally tasks have a folder`() throws {
    let place = try Workplace(
      """
      max_parallel: 1
      tasks:
        a: { run: 'touch $OPFLOW_TMP/file; echo x > here; read x < never' }
        end: { finally: true, run: 'ls -A $OPFLOW_TMP >> seen; touch $OPFLOW_TMP/file ran' }
      """)
    let here = try place.gate("here")
    _ = try place.gate("never")
    let run = try place.start("run", environment: try environment(place))
    _ = try here.next()
    run.send(SIGINT)
    #expect(try run.finish().status == -SIGINT)
    #expect(place.exists("ran") && place.lines("seen") == [])
    #expect(try left(place) == [])
  }

  @Test func `the next try finds an empty folder`() throws {
    let place = try Workplace(
      """
      tasks: { a: { run: 'ls -A $OPFLOW_TMP >> seen; mkdir $OPFLOW_TMP/d; \
      test $OPFLOW_ATTEMPT = 3', retry: { max: 2, delay: 0 } } }
      """
    )
    try place.opflow("run", environment: try environment(place))
    #expect(place.lines("seen") == [])
    #expect(try left(place) == [])
  }

  @Test(arguments: ["gone", "file"])
  func `where no folder can be made, tasks run and find a path at which nothing is`(
    _ name: String
  ) throws {
    let place = try Workplace(
      """
      max_parallel: 1
      tasks:
        a: { run: 'set -u; test ! -e "$OPFLOW_TMP" && test -n "$OPFLOW_TMP" && touch ran' }
        b: { needs: a, run: 'mkdir -p "$OPFLOW_TMP/x"', allow_failure: true }
        c: { needs: b, run: 'test ! -e "$OPFLOW_TMP/x"; touch "$OPFLOW_TMP/file" || test -f "$TMPDIR"' }
      """)
    try place.write("file", "")
    try place.opflow("run", environment: ["TMPDIR": place.file(name)])
    #expect(place.exists("ran"))
    #expect(place.entries("gone") == [])
  }

  @Test(arguments: ["", "relative"])
  func `a place that is no absolute path is not taken`(_ place: String) throws {
    let work = try Workplace(
      "tasks: { a: { run: 'touch $OPFLOW_TMP/x; echo $OPFLOW_TMP > path' } }")
    try work.opflow("run", environment: ["TMPDIR": place])
    let path = try #require(work.lines("path").first)
    #expect(path.hasPrefix("/tmp/opflow-"))
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(!work.exists("relative"))
  }
}
