import Testing

@testable import OpflowBase
@testable import OpflowWorker

@Suite("Why a task is not up to date")
struct StalenessTests {
  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  @Test func `what changed is told, inputs first`() {
    let reasons: [Staleness] = [
      .outputGone(bytes("out/app")), .changed(bytes("a.c")), .added(bytes("b.c")),
      .removed(bytes("d.h")),
    ]
    #expect(Staleness.text(reasons) == "changed: a.c, +b.c, -d.h; output out/app is missing")
    #expect(Staleness.text([.needs]) == "a dependency was re-run")
  }

  private func record(_ files: [(String, SeenFile.Kind, UInt64)]) -> SuccessRecord {
    let seen = files.map {
      SeenFile(
        path: bytes($0.0), kind: $0.1, content: PlanKey(high: 0, low: $0.2), stamp: nil)
    }
    return SuccessRecord(
      terms: SuccessRecord.Terms(fingerprint: 0, declaration: 0, with: nil, needs: 0),
      inputs: SeenFiles(seen.filter { $0.kind != .link }),
      links: SeenFiles(seen.filter { $0.kind == .link }), readings: [])
  }

  @Test func `a link is told where it alone is another, and what it leads to otherwise`() {
    let old = record([("d/l", .link, 1), ("d/l/x", .file, 2), ("m", .link, 3), ("m", .absent, 0)])
    func told(_ files: (String, SeenFile.Kind, UInt64)...) -> String {
      Staleness.text(old.differences(to: record(files)) { _ in Array("text".utf8) })
    }
    #expect(told(("d/l", .link, 1), ("d/l/x", .file, 2), ("m", .link, 3), ("m", .absent, 0)) == "")
    #expect(
      told(("d/l", .link, 9), ("d/l/x", .file, 2), ("m", .link, 3), ("m", .file, 5))
        == "changed: m, d/l -> text")
    #expect(
      told(("d/l", .link, 9), ("d/l/x", .file, 9), ("m", .link, 9), ("m", .absent, 0))
        == "changed: d/l/x, m -> text")
    #expect(
      told(
        ("d/l/x", .file, 2), ("m", .link, 3), ("m", .absent, 0), ("n", .link, 1), ("n", .file, 1))
        == "changed: +n, d/l")
  }

  @Test func `a record that knows a link by its text alone makes what it leads to a change`() {
    let old = record([("l", .link, 1)])
    let new = record([("l", .link, 1), ("l", .file, 2)])
    #expect(Staleness.text(old.differences(to: new)) == "changed: l")
    #expect(old.differences(to: old).isEmpty)
  }

  @Test func `what is not told is counted`() {
    let reasons = (0..<1000).map { Staleness.changed(bytes("file-\($0)")) }
    #expect(
      Staleness.text(reasons)
        == "changed: file-0, file-1, file-2, file-3, file-4; … and 995 more")
  }

  @Test(arguments: [1, 2, 5, 40, 196, 197, 198, 199, 200, 4000])
  func `it has at most 200 bytes, and whole characters`(_ count: Int) {
    for character in ["x", "é", "€", "😀"] {
      for others in [0, 1, 7] {
        let name = bytes(String(repeating: character, count: count))
        let reasons = Array(repeating: Staleness.changed(name), count: others + 1)
        let text = Staleness.text(reasons)
        #expect(text.utf8.count <= 200)
        #expect(!text.contains("\u{FFFD}"))
        #expect(text.hasPrefix("changed: "))
      }
    }
  }

  @Test func `a stamp is trusted only where a later change would show`() {
    func stamp(_ modified: Int64, _ changed: Int64) -> FileStamp {
      FileStamp(device: 1, inode: 2, sizeBytes: 3, modified: modified, changed: changed)
    }
    let second: Int64 = 1_000_000_000
    let now = 1_700_000_000 * second + 500_000_000
    // One step of the clock, and a clock that counts in seconds.
    #expect(!stamp(now, now).isTelling(atNanoseconds: now))
    #expect(!stamp(now - 10_000_001, now - 10_000_001).isTelling(atNanoseconds: now))
    #expect(stamp(now - 30_000_001, now - 30_000_001).isTelling(atNanoseconds: now))
    #expect(!stamp(1_700_000_000 * second, now - second / 3).isTelling(atNanoseconds: now))
    #expect(stamp(1_699_999_990 * second, now - 3 * second).isTelling(atNanoseconds: now))
    // A time to come, in either, and a clock that was set back.
    #expect(!stamp(now + second + 1, now - 5 * second).isTelling(atNanoseconds: now))
    #expect(!stamp(now - 5 * second, now + second + 1).isTelling(atNanoseconds: now))
  }
}
