import Foundation
import Glibc
import Testing

/// Clients of a run: each starts `opflow serve` with an inherited connection.
struct HostTests {
  /// `host.py AFTER WORD...`: starts `opflow WORD...`, sends what happens to the run after the end
  /// of this client, and waits; with a leading `die` it kills itself right after that.
  private static let program = """
    import os, signal, socket, subprocess, sys
    words = sys.argv[1:]
    dies = words[0] == "die"
    words = words[1:] if dies else words
    ours, theirs = socket.socketpair()
    number = str(theirs.fileno())
    subprocess.Popen([os.environ["opflow"], *words[1:], "--control-fd", number],
      pass_fds=[theirs.fileno()], start_new_session=True, stdin=subprocess.DEVNULL,
      stdout=subprocess.DEVNULL, stderr=open("server.log", "a"))
    theirs.close()
    ours.sendall(b"host\\th.1\\t" + words[0].encode() + b"\\n")
    if dies: os.kill(os.getpid(), signal.SIGKILL)
    print(ours.makefile().readline(), end="", flush=True)
    signal.pause()
    """

  private func host(_ place: Workplace, _ words: String) throws -> LiveProcess {
    try place.write("host.py", Self.program)
    let host = try place.startShell("exec python3 host.py \(words)")
    if !words.hasPrefix("die") { try host.waitForOutput("done\th.1\tcount=1\n") }
    return host
  }

  private func kill(_ host: LiveProcess) throws {
    host.send(SIGKILL)
    #expect(try host.finish().status == -SIGKILL)
  }

  @Test func `a killed client stops its run, and the next client resumes it`() throws {
    let place = try Workplace()
    let (`in`, out) = (try place.gate("in"), try place.gate("out"))
    let first = try host(place, "stop serve --name q")
    try place.write(
      "a.yaml",
      """
      tasks: { work: { run: 'echo in > in; read w < out; echo done >> trace' }, \
      more: { needs: [work], run: echo more >> trace } }
      """
    )
    _ = try place.opflow("add", "--run", "q", "a.yaml")
    _ = try `in`.next()
    try kill(first)
    _ = try place.opflow("wait", "q", status: 143)
    place.expectNothingAlive()
    #expect(try place.status()["work"]?.state == "cancelled")
    let stop = try #require(try place.journal().first { $0.event == "stop" })
    #expect(stop.values["what"] == "the client that the run is for has ended")
    let log = try place.text("server.log")
    #expect(
      log.contains("warning: stopping the run: the client that the run is for has ended"),
      "\(log)")

    let second = try host(place, "stop resume q")
    _ = try `in`.next()
    try out.letGo()
    _ = try place.opflow("close", "--run", "q")
    _ = try place.opflow("wait", "q")
    #expect(place.lines() == ["done", "more"])
    try kill(second)
    place.expectNothingAlive()
  }

  @Test func `a killed client leaves a run alone that should continue`() throws {
    let place = try Workplace()
    let first = try host(place, "go-on serve --name q")
    try kill(first)
    try place.write("a.yaml", "tasks: { a: { run: echo a >> trace } }")
    _ = try place.opflow("add", "--run", "q", "a.yaml")
    _ = try place.opflow("close", "--run", "q")
    _ = try place.opflow("wait", "q")
    #expect(place.lines() == ["a"])
    place.expectNothingAlive()
  }

  @Test(arguments: ["serve --name q", "resume q"])
  func `opflow notices a client that was killed before its first request`(
    _ words: String
  ) throws {
    let place = try Workplace()
    if words.hasPrefix("resume") {
      let server = try place.start("serve", "--name", "q")
      try server.waitForError("0 tasks")
      server.send(SIGKILL)
      _ = try server.finish()
    }
    let first = try host(place, "die stop \(words)")
    #expect(try first.finish().status == -SIGKILL)
    place.expectNothingAlive()
    #expect(try place.journal().last?.event == "close")
    let second = try host(place, "go-on resume q")
    _ = try place.opflow("close", "--run", "q")
    _ = try place.opflow("wait", "q")
    try kill(second)
  }

  @Test func `the run continues while another client is connected`() throws {
    let place = try Workplace()
    let first = try host(place, "stop serve --name q")
    try place.write(
      "other.py",
      """
      import glob, os, signal, socket
      s = socket.socket(socket.AF_UNIX)
      s.connect(glob.glob(".opflow/runs/*/control.sock")[0])
      s.sendall(b"host\\tx\\tstop\\n")
      print(s.makefile().readline(), end="", flush=True)
      signal.pause()
      """)
    let other = try place.startShell("exec python3 other.py")
    try other.waitForOutput("done\tx\tcount=1")
    try kill(first)
    try place.write("a.yaml", "tasks: { a: { run: echo a >> trace } }")
    _ = try place.opflow("add", "--run", "q", "a.yaml")
    _ = try place.opflow("wait", "q", "--for", "a")
    try kill(other)
    _ = try place.opflow("wait", "q", status: 143)
    #expect(place.lines() == ["a"])
    place.expectNothingAlive()
  }

  @Test(arguments: [
    ("9", "--control-fd 9: this descriptor is not an inherited Unix stream socket: Bad file"),
    ("3", "--control-fd 3: this descriptor is not an inherited Unix stream socket: Socket op"),
    ("1", "--control-fd needs a number from 3"),
  ])
  func `an invalid descriptor is a usage error`(_ number: String, _ detail: String) throws {
    let place = try Workplace("tasks: {}")
    // The shell may inherit descriptors of other tests.
    let end = try place.shell(
      "$opflow serve --control-fd \(number) 3< opflow.yaml 9<&-", status: 2)
    #expect(end.errors.contains(detail), "\(end)")
    #expect(!place.exists(".opflow"))
  }
}
