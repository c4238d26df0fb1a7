import OpflowBase
import Testing

@Suite struct NearestNameTests {
  @Test func `the nearest name has few changes`() {
    let names = ["run", "resume", "status"]
    #expect(NearestName.of("resmue", among: names) == "resume")
    #expect(NearestName.of("statsu", among: names) == "status")
    #expect(NearestName.of("rn", among: names) == "run")
    #expect(NearestName.of("abc", among: names) == nil)
    #expect(NearestName.of("", among: names) == nil)
  }
}
