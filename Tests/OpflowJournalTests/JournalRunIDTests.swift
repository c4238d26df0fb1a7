import Fixtures
import OpflowJournal
import OpflowPlan
import Testing

@Suite struct JournalRunIDTests {
  @Test(arguments: [
    (Int64(0), "19700101-000000-0000"), (951_782_399, "20000228-235959-0000"),
    (951_782_400, "20000229-000000-0000"), (951_868_800, "20000301-000000-0000"),
    (1_709_164_800, "20240229-000000-0000"), (1_735_689_599, "20241231-235959-0000"),
    (4_107_542_400, "21000301-000000-0000"), (253_402_300_799, "99991231-235959-0000"),
  ])
  func `a name tells when the run began`(_ seconds: Int64, _ text: String) {
    #expect(RunID(seconds: seconds, serial: 0).description == text)
    #expect(RunID(text) == RunID(seconds: seconds, serial: 0))
  }

  @Test(arguments: [
    "", "20240229-000000", "20240229-000000-000g", "20240229-000000-00AF", "20230229-000000-0000",
    "20241301-000000-0000", "20240101-240000-0000", "20240101-006000-0000", "2024-101-000000-0000",
    "20240101-000000-00000", "20240101_000000-0000", "20240101-000000-0000 ",
    "../../../../etc/passw",
  ])
  func `another text is no name`(_ text: String) {
    #expect(RunID(text) == nil)
  }

  @Test(arguments: ["q", "_", "9", "A.b_c-d", "20261129", String(repeating: "x", count: 100)])
  func `a run can be known by a word`(name: String) { #expect(RunName.isValid(name)) }

  @Test(arguments: [
    "", ".", "..", "-", "--json", ".x", "a/b", "a b", "ä", "20261129-091754-f62b",
    String(repeating: "x", count: 101),
  ])
  func `a run is not known by a path, a flag or the ID of a run`(name: String) {
    #expect(!RunName.isValid(name))
  }

  @Test func `a new name is above the newest, whatever the clock does`() {
    let newest = RunID(seconds: 1_000_000, serial: 0x8000)
    for (milliseconds, random) in [
      (Int64(1_000_000_000), UInt16(0)), (1_000_000_999, 0x7fff), (1_000_000_000, 0x8000),
      (999_000_000, 0xffff), (0, 0), (-5000, 1),
    ] {
      let next = RunID.next(after: newest, nowMilliseconds: milliseconds, random: random)
      #expect(next > newest)
      #expect(next.description > newest.description)
    }
    #expect(
      RunID.next(after: newest, nowMilliseconds: 1_000_001_000, random: 3)
        == RunID(seconds: 1_000_001, serial: 3))
    #expect(
      RunID.next(
        after: RunID(seconds: 59, serial: .max), nowMilliseconds: 0, random: 0)
        == RunID(seconds: 60, serial: 0))
  }

  @Test func `a run is of its manifest, also where both were moved with their folder`() {
    var open = OpenEntry.example
    open.manifestPath = "/data/a/jobs/opflow.yaml"
    open.stateFolder = "/data/a/.opflow"
    #expect(open.isRun(ofManifest: "/data/a/jobs/opflow.yaml", stateFolder: "/other/.opflow"))
    #expect(open.isRun(ofManifest: "/new/b/jobs/opflow.yaml", stateFolder: "/new/b/.opflow"))
    #expect(!open.isRun(ofManifest: "/new/b/opflow.yaml", stateFolder: "/new/b/.opflow"))
    #expect(!open.isRun(ofManifest: "-", stateFolder: "/data/a/.opflow"))
    open.manifestPath = "-"
    #expect(open.isRun(ofManifest: "-", stateFolder: "/data/a/.opflow"))
    #expect(!open.isRun(ofManifest: "/data/a/-", stateFolder: "/data/a/.opflow"))
  }
}
