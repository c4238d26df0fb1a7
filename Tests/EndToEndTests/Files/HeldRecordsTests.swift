import Glibc
import Testing

/// Records that another process has locked, as one that was stopped in the middle of a line.
struct HeldRecordsTests {
  private static let manifest = """
    tasks:
      a: { inputs: [in], run: "echo a >> trace; cat in" }
      slow: { inputs: [in], run: "echo here > here; read x < go; echo slow >> trace" }
    """

  /// Takes the lock for additions to the records, until the descriptor is closed.
  private func lock(_ place: Workplace) throws -> Int32 {
    let file = open(place.file(".opflow/records"), O_RDWR | O_CLOEXEC)
    try #require(file >= 0 && flock(file, LOCK_EX) == 0)
    return file
  }

  private func place() throws -> Workplace {
    let place = try Workplace(Self.manifest)
    try place.write("in", "1\n")
    try place.opflow("run", "a")
    try place.write("in", "2\n")
    return place
  }

  private func told(_ place: Workplace) -> String {
    "another process holds the lock on \(place.file(".opflow/records"));"
      + " tasks wait until it is free"
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `a task that cannot start for that keeps no run from its end`(_ signal: Int32) throws {
    let place = try place()
    let file = try lock(place)
    defer { close(file) }
    let live = try place.start("run", "a", "--output", "line")
    try live.waitForError(told(place))
    live.send(signal)
    let ended = try live.finish()
    #expect(ended.status == -signal, "\(ended)")
    #expect(!ended.errors.contains("lost"), "\(ended)")
    #expect(!ended.errors.contains("started"), "\(ended)")
    #expect(place.lines() == ["a"])
    place.expectNothingAlive()
  }

  @Test func `it starts once they are given up`() throws {
    let place = try place()
    let file = try lock(place)
    let live = try place.start("run", "a", "--output", "line")
    try live.waitForError(told(place))
    close(file)
    let ended = try live.finish()
    #expect(ended.status == 0, "\(ended)")
    #expect(place.lines() == ["a", "a"])
  }

  @Test(arguments: [true, false])
  func `a success is written down once they are given up, or not at all`(_ isGivenUp: Bool) throws {
    let place = try place()
    let here = try place.gate("here")
    let go = try place.gate("go")
    let live = try place.start("run", "slow", "--output", "line")
    _ = try here.next()
    let file = try lock(place)
    try go.letGo()
    try live.waitForError(told(place))
    if isGivenUp { close(file) } else { live.send(SIGINT) }
    let ended = try live.finish()
    if !isGivenUp { close(file) }
    #expect(ended.status == (isGivenUp ? 0 : -SIGINT), "\(ended)")
    #expect(!ended.errors.contains("lost"), "\(ended)")
    #expect(ended.errors.contains("slow succeeded"), "\(ended)")
    let rows = try place.opflow("plan", "slow").output
    #expect(rows.contains("up to date: slow") == isGivenUp, "\(rows)")
    place.expectNothingAlive()
  }
}
