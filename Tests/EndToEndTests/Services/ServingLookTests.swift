import Glibc
import Testing

/// Slow checks for changes of a watched run that only has services left: its process still answers
/// users.
struct ServingLookTests {
  private static func manifest(_ says: String) -> String {
    """
    tasks:
      db: { service: { ready: { log: up } }, run: "echo $$ > pid; echo up; exec tail -f /dev/null" }
      lint: { run: "echo \(says) >> trace" }
    """
  }

  /// Puts another manifest in place, and blocks each process that opens it (F_SETLEASE of fcntl(2))
  /// until `go` is written.
  private static let lease = """
    import fcntl, os, signal
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGIO])
    # One that nobody else has open, as a program that another test starts may have for a moment.
    held = os.open("other", os.O_RDWR | os.O_CREAT, 0o600)
    os.write(held, open("text", "rb").read())
    fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    os.rename("other", "opflow.yaml")
    signal.sigwait([signal.SIGIO])
    print("asked", flush=True)
    open("go").readline()
    """

  /// A run that looks at a manifest which it cannot open.
  private func begin() throws -> (place: Workplace, run: LiveProcess, holder: LiveProcess) {
    let place = try Workplace(Self.manifest("first"))
    let run = try place.watch()
    _ = try place.gate("go")
    try place.write("text", Self.manifest("second"))
    try place.write("lease.py", Self.lease)
    let holder = try place.startShell("exec python3 lease.py")
    try holder.waitForOutput("asked")
    return (place, run, holder)
  }

  private func letGo(_ place: Workplace, _ holder: LiveProcess) throws {
    try place.gate("go").letGo()
    #expect(try holder.finish().status == 0)
  }

  /// The other manifest is taken up.
  private func expectSecond(_ place: Workplace, _ run: LiveProcess) throws {
    try run.waitForError("opflow: changed: opflow.yaml\n")
    try run.waitForRounds(2)
    #expect(place.lines() == ["first", "second"])
  }

  @Test func `a request is answered, and what changed is taken up when it can be read`() throws {
    let (place, run, holder) = try begin()
    try place.opflow("pause")
    try run.waitForError("paused by opflow pause")
    #expect(!run.errorText.contains("opflow: changed"), "\(run.errorText)")
    try place.opflow("continue")
    try letGo(place, holder)
    try expectSecond(place, run)
    _ = try run.leave()
    place.expectNothingAlive()
  }

  @Test func `a run that is paused takes up what changed when it goes on`() throws {
    let place = try Workplace(Self.manifest("first"))
    let run = try place.watch()
    try place.opflow("pause")
    try place.write("opflow.yaml", Self.manifest("second"))
    // So long nothing is to happen.
    try place.shell("sleep 1")
    try place.opflow("continue")
    try expectSecond(place, run)
    run.send(SIGINT)
    let end = try run.finish()
    let request = end.errorLines.firstIndex { $0.hasPrefix("continued by opflow continue") }
    let change = end.errorLines.firstIndex { $0.hasPrefix("opflow: changed") }
    #expect(try #require(request) < #require(change), "\(end)")
    place.expectNothingAlive()
  }

  @Test func `Ctrl-C ends the run at once`() throws {
    let (place, run, holder) = try begin()
    run.send(SIGINT)
    let end = try run.finish()
    #expect(end.status == -SIGINT, "\(end)")
    #expect(!end.errors.contains("opflow: changed"), "\(end)")
    #expect(try place.journal().last?.event == "close")
    try letGo(place, holder)
    place.expectNothingAlive()
  }

  @Test func `what it finds when the services are gone is taken up then`() throws {
    let (place, run, holder) = try begin()
    try place.shell("kill -9 $(cat pid)")
    try run.waitForError("1 succeeded, 1 failed")
    #expect(!run.errorText.contains("opflow: changed"), "\(run.errorText)")
    try letGo(place, holder)
    try expectSecond(place, run)
    _ = try run.leave()
    place.expectNothingAlive()
  }
}
