import Foundation
import Testing

/// One compiled plan for all runs and resumes of an unchanged manifest.
struct PlanReuseTests {
  private let manifest = """
    vars: { v: "1" }
    tasks:
      a: { run: "echo ${{ vars.v }} ${{ env.CHOICE }} >> trace" }
      b: { needs: [a], run: "test -e go" }
    """

  /// The file that a run's plan is: equal for two names of one file.
  private func plan(_ place: Workplace, _ run: String) throws -> UInt64 {
    let path = place.file(".opflow/runs/\(run)/plan")
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o400)
    return try #require(attributes[.systemFileNumber] as? UInt64)
  }

  /// How many files the plans of all runs are.
  private func planCount(_ place: Workplace) throws -> Int {
    Set(try place.runs.map { try plan(place, $0) }).count
  }

  @Test func `a second run of an unchanged manifest has the plan of the first`() throws {
    let place = try Workplace(manifest)
    try place.write("go", "")
    try place.opflow("run")
    try place.opflow("run")
    // Also from elsewhere, and whatever the display path is.
    try place.write("below/empty", "")
    try place.opflow("run", "../opflow.yaml", in: place.file("below"))
    try place.opflow("run", place.file("opflow.yaml"), "-j", "3")
    #expect(place.runs.count == 4)
    #expect(try planCount(place) == 1)
    #expect(place.lines() == ["1", "1", "1", "1"])
    let status = try place.status()
    #expect(status.counts["succeeded"] == 2)
  }

  @Test func `what a plan is made from gives another plan when it changes`() throws {
    let place = try Workplace(manifest)
    try place.write("go", "")
    try place.opflow("run")
    try place.opflow("run", "--set", "v=2")
    try place.opflow("run", environment: ["CHOICE": "x"])
    #expect(try planCount(place) == 3)
    try place.opflow("run", "--set", "v=2")
    try place.opflow("run", environment: ["CHOICE": "x", "OTHER": "y"])
    #expect(try planCount(place) == 3)
    try place.write("opflow.yaml", manifest.replacingOccurrences(of: "echo", with: "echo new"))
    try place.opflow("run")
    #expect(try planCount(place) == 4)
    #expect(place.lines() == ["1", "2", "1 x", "2", "1 x", "new 1"])
  }

  @Test func `a plan that speaks of the run's id is never shared`() throws {
    let place = try Workplace("tasks: { a: { run: 'echo ${{ run.id }} >> trace' } }")
    try place.opflow("run")
    try place.opflow("run")
    #expect(try planCount(place) == 2)
    #expect(place.lines() == place.runs)
  }

  @Test func `a resume keeps the plan file while it is right`() throws {
    let place = try Workplace(manifest)
    try place.opflow("run", status: 1)
    let run = try #require(place.runs.first)
    let before = try plan(place, run)
    try place.write("below/empty", "")
    try place.opflow("resume", "--state-dir", "../.opflow", status: 1, in: place.file("below"))
    #expect(try plan(place, run) == before)
    try place.opflow("resume", "--set", "v=2", status: 1)
    #expect(try plan(place, run) != before)
    try place.write("go", "")
    try place.opflow("resume")
    #expect(place.lines() == ["1", "2"])
  }

  @Test func `a resume with another plan leaves that of other runs alone`() throws {
    let place = try Workplace(manifest)
    try place.opflow("run", status: 1)
    try place.opflow("run", status: 1)
    #expect(try planCount(place) == 1)
    let first = try plan(place, place.runs[0])
    try place.opflow("resume", place.runs[1], "--set", "v=2", status: 1)
    #expect(try plan(place, place.runs[0]) == first)
    #expect(try planCount(place) == 2)
    try place.opflow("status", place.runs[0])
  }

  @Test func `what was warned of is warned of again`() throws {
    let place = try Workplace("tasks: { a: { resources: { cpu: 3 }, run: 'true' } }")
    let warning = "`cpu: 3` is more than the limit of 2; the task will run alone"
    #expect(try place.opflow("run", "-j", "2").errors.contains(warning))
    #expect(try place.opflow("run", "-j", "2").errors.contains(warning))
    #expect(try !place.opflow("run", "-j", "3").errors.contains("run alone"))
    #expect(try !place.opflow("run", "-j", "3").errors.contains("run alone"))
    #expect(try place.opflow("run", "-j", "2").errors.contains(warning))
  }

  @Test func `a plan that was tampered with serves no other run`() throws {
    let place = try Workplace(manifest)
    try place.write("go", "")
    try place.opflow("run")
    let path = ".opflow/runs/\(place.runs[0])/plan"
    // The last byte of what the checksum covers, then one of the table of sections.
    try place.shell(
      """
      chmod 600 \(path); printf X | dd of=\(path) bs=1 seek=$(($(stat -c %s \(path)) - 1)) \
      conv=notrunc
      """
    )
    try place.opflow("run")
    try place.shell("printf XXXX | dd of=\(path) bs=1 seek=80 conv=notrunc")
    try place.opflow("run")
    #expect(place.lines() == ["1", "1", "1"])
    let plans = try place.runs.dropFirst().map { try plan(place, $0) }
    #expect(Set(plans).count == 1)
  }
}
