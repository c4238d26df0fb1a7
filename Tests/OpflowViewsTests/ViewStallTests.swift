import Fixtures
import OpflowBase
import OpflowJournal
import OpflowPlan
import OpflowViews
import Testing

/// Downloads that receive no more data.
@Suite struct ViewStallTests {
  private func plan() throws -> Plan {
    try ViewFixture.plan(
      [("fetch", []), ("other", [])],
      downloads: ["fetch": ["http://example.org/file"], "other": ["http://example.org/other"]])
  }

  private func progress(speed: Int64 = 1000, done: Int64 = 500) -> DownloadProgress {
    DownloadProgress(
      doneBytes: done, totalBytes: 1500, bytesPerSecond: speed, toldMilliseconds: 10_000)
  }

  @Test func `speed falls and the time that is left grows while nothing comes`() {
    let progress = progress()
    #expect(progress.bytesPerSecond(at: 10_000) == 1000)
    #expect(progress.bytesPerSecond(at: 11_000) == 1000)
    #expect(progress.secondsLeft(at: 11_000) == 1)
    var last: Int64 = 1000
    for now in stride(from: Int64(11_100), to: 13_000, by: 100) {
      let speed = progress.bytesPerSecond(at: now)
      #expect(speed < last)
      last = speed
    }
    #expect(progress.secondsLeft(at: 12_000) == 2)
    #expect(progress.bytesPerSecond(at: 13_000) == 0)
    #expect(progress.secondsLeft(at: 13_000) == nil)
    for now in [Int64.min, 0, .max] { _ = progress.bytesPerSecond(at: now) }
  }

  private func owner() throws -> ViewDriver {
    var view = ViewDriver(try plan(), ProgressOptions(mode: .line))
    view.start("fetch")
    _ = view.errorText()
    view.wait(100)
    view.download("fetch", done: 500, of: 1500, speed: 1000)
    return view
  }

  @Test func `a stall of a download is one line, and its end another`() throws {
    var view = try owner()
    view.wait(2900)
    view.tick()
    #expect(view.errorText() == "")
    view.wait(100)
    view.tick()
    #expect(view.errorText() == "[0/2] fetch: 500B of 1.4KiB (33%), stalled for 3s\n")
    for _ in 0..<20 {
      view.wait(1000)
      view.tick()
    }
    #expect(view.errorText() == "")
    view.download("fetch", done: 600, of: 1500, speed: 10)
    #expect(
      view.errorText() == "[0/2] fetch: 600B of 1.4KiB (40%), continues after a stall of 23s\n")
    view.download("fetch", done: 700, of: 1500, speed: 10)
    #expect(view.errorText() == "")
    view.wait(3000)
    view.tick()
    #expect(view.errorText() == "[0/2] fetch: 700B of 1.4KiB (46%), stalled for 3s\n")
  }

  @Test func `a server that says nothing at all is seen`() throws {
    var view = ViewDriver(try plan(), ProgressOptions(mode: .line))
    view.start("fetch")
    view.wait(100)
    view.download("fetch", done: 0)
    _ = view.errorText()
    view.wait(3000)
    view.tick()
    #expect(view.errorText() == "[0/2] fetch: 0B, stalled for 3s\n")
  }

  @Test func `another attempt can stall again, and a finished one cannot`() throws {
    var view = try owner()
    view.wait(5000)
    view.tick()
    view.end("fetch", .retry, .unknown)
    view.start("fetch", attempt: 2)
    _ = view.errorText()
    view.wait(5000)
    view.tick()
    #expect(view.errorText() == "")
    view.download("fetch", done: 500, of: 1500, speed: 1)
    _ = view.errorText()
    view.wait(5000)
    view.tick()
    #expect(view.errorText().contains("stalled for 5s"))
    view.end("fetch", .success)
    _ = view.errorText()
    view.wait(5000)
    view.tick()
    #expect(view.errorText() == "")
  }

  @Test func `what is all there, and what is suspended, does not stall`() throws {
    var view = try owner()
    view.download("fetch", done: 1500, of: 1500, speed: 1000)
    view.wait(60_000)
    view.tick()
    #expect(!view.errorText().contains("stalled"))
    view = try owner()
    view.tell(Transition(.pause, view.id("fetch"), attempt: 1))
    _ = view.errorText()
    view.wait(60_000)
    view.tick()
    #expect(view.errorText() == "")
    view.tell(Transition(.proceed, view.id("fetch"), attempt: 1))
    _ = view.errorText()
    view.tick()
    #expect(view.errorText() == "")
    view.wait(3000)
    view.tick()
    #expect(view.errorText().contains("stalled for 3s"))
  }

  @Test func `time is asked for only while something runs`() throws {
    var view = ViewDriver(try plan(), ProgressOptions(mode: .line))
    #expect(view.tickMilliseconds == nil)
    view.start("fetch")
    #expect(view.tickMilliseconds == 1000)
    view.end("fetch", .success)
    #expect(view.tickMilliseconds == nil)
  }
}
