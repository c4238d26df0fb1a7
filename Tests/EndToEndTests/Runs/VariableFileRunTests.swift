import Foundation
import Testing

/// Runs with files of variables.
struct VariableFileRunTests {
  private func project() throws -> Workplace {
    let place = try Workplace(
      """
      env_file: [.env, "?local.env"]
      env: { C: "${{ env.A }}!" }
      tasks: { a: { run: 'echo "$A $B $C" >> trace; test -e ok' } }
      """)
    try place.write(".env", "A=file\nB=${FROM:-nobody}\n")
    return place
  }

  @Test func `the inherited variables are over a file's, and a new one is a new plan`() throws {
    let place = try project()
    try place.write("ok", "")
    let run = try place.opflow("run", environment: ["A": "inherited", "FROM": "me"])
    #expect(run.errors.contains(".env:1:1: warning: `A` has a different value"), "\(run)")
    try place.opflow("run", environment: ["A": "inherited", "FROM": "me"])
    try place.opflow("run")
    try place.write("local.env", "A=local\n")
    try place.opflow("run")
    try place.remove("local.env")
    try place.opflow("run")
    #expect(
      place.lines() == [
        "inherited me inherited!", "inherited me inherited!", "file nobody file!",
        "local nobody local!",
        "file nobody file!",
      ])
    let plans = try place.shell("ls -i .opflow/runs/*/plan | awk '{print $1}' | sort -u | wc -l")
    // One that has warnings is made again, so that they are told again.
    #expect(plans.output == "4\n")
  }

  @Test func `a resume runs what an edited file changed, and says so`() throws {
    let place = try project()
    try place.opflow("run", status: 1)
    try place.write("ok", "")
    try place.opflow("resume")
    try place.write(".env", "A=other\n")
    let same = try place.opflow("resume")
    #expect(same.errors.contains("changed since the last session: .env"), "\(same)")
    #expect(place.lines() == ["file nobody file!", "file nobody file!", "other  other!"])
  }

  @Test func `a resume in another environment has its values, and says so`() throws {
    let place = try project()
    try place.opflow("run", status: 1, environment: ["A": "first"])
    try place.write("ok", "")
    try place.opflow("resume", environment: ["A": "first"])
    let other = try place.opflow("resume", environment: ["A": "second"])
    #expect(other.errors.contains("a: re-run (its `env` changed)"), "\(other)")
    #expect(
      place.lines() == ["first nobody first!", "first nobody first!", "second nobody second!"])
  }

  @Test func `a copy is kept for the owner alone, and serves when a file is gone`() throws {
    let place = try project()
    try place.opflow("run", status: 1)
    let mode = try place.shell("stat -c %a .opflow/runs/*/included")
    #expect(mode.output == "600\n")
    try place.shell("rm .env; touch ok")
    try place.opflow("resume")
    #expect(place.lines().count == 2)
    let run = try place.opflow("run", status: 3)
    #expect(
      run.errors.contains("opflow.yaml:1:12: error: cannot read `.env`: no such file"))
    #expect(run.errors.contains("if the file is optional, write `?` before the path"))
  }

  @Test func `a mistake in a file has its place there and shows no value`() throws {
    let place = try project()
    try place.write(".env", "A=1\nB='s3cret\n")
    let check = try place.opflow("check", status: 3)
    #expect(check.errors.contains(".env:2:3: error: the quoted value has no closing quote"))
    #expect(!check.errors.contains("s3cret"))
  }
}
