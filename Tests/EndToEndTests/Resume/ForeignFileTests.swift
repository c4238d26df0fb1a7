import Foundation
import Testing

/// Files that opflow finds by itself and that other users may have written.
@Suite(.enabled(if: geteuid() == 0, "root alone can give files to another user"))
struct ForeignFileTests {
  private static let manifest = "tasks: { a: { run: echo a >> \"$TRACE\", inputs: [] } }"
  private static let other = 65_534

  /// A project folder `mine` below one with a manifest; `TRACE` has a line for each task that ran.
  private func place(_ manifest: String = manifest) throws -> Workplace {
    let place = try Workplace(manifest)
    try place.shell("chmod 755 . && mkdir mine && chmod 755 mine")
    return place
  }

  private func opflow(
    _ command: String, in folder: String = "mine", _ place: Workplace, status: Int32
  ) throws -> String {
    let run = try place.shell(
      "cd '\(folder)' && TRACE='\(place.path)/trace' \"$opflow\" \(command) < /dev/null",
      status: status)
    return run.errors
  }

  // MARK: - Manifests

  @Test(arguments: ["", "run", "plan", "run -n", "check", "tasks", "graph", "run --resume"])
  func `a manifest of another user that is found above is refused, by each command`(
    command: String
  ) throws {
    let place = try place()
    try place.shell("chown \(Self.other) opflow.yaml")
    let errors = try opflow(command, place, status: 2)
    #expect(errors.contains("\(place.path)/opflow.yaml belongs to user \(Self.other)"))
    #expect(errors.contains("`-f ../opflow.yaml`"))
    #expect(place.lines().isEmpty && !place.exists(".opflow"))
  }

  @Test(arguments: [
    ("chown OTHER .", "belongs to user"), ("chmod 777 .", "other users may write to"),
    ("chmod 646 opflow.yaml", "(mode 646)"),
    ("chgrp OTHER opflow.yaml; chmod 664 opflow.yaml", "(mode 664)"),
    ("chgrp OTHER .; chmod 775 .", "(mode 775)"),
    ("mv opflow.yaml m; ln -s m opflow.yaml; chown -h OTHER opflow.yaml", "belongs to user"),
    ("mkdir d; mv opflow.yaml d; ln -s d/opflow.yaml .; chmod 777 d", "/d (mode 777)"),
    (
      "mkdir d; mv opflow.yaml m; ln -s ../m d/m; ln -s d/m opflow.yaml; chown -h OTHER d d/m",
      "/d/m belongs to user"
    ),
  ])
  func `so is one that others may write, or replace`(change: String, told: String) throws {
    let place = try place()
    try place.shell(change.replacingOccurrences(of: "OTHER", with: "\(Self.other)"))
    #expect(try opflow("run", place, status: 2).contains(told))
    #expect(place.lines().isEmpty)
  }

  @Test(arguments: [
    "chmod 1777 .", "chgrp 0 . opflow.yaml; chmod 775 .; chmod 664 opflow.yaml",
    "mv opflow.yaml m; ln -s m opflow.yaml",
  ])
  func `one that nobody else may write is taken`(change: String) throws {
    let place = try place()
    try place.shell(change)
    _ = try opflow("run", place, status: 0)
    _ = try opflow("status", place, status: 0)
    #expect(place.lines() == ["a"])
  }

  @Test func `in the current folder the file counts, and not who may write to the folder`() throws {
    let place = try place()
    try place.shell("chmod 777 .")
    _ = try opflow("run", in: ".", place, status: 0)
    _ = try opflow("status", in: ".", place, status: 0)
    #expect(place.lines() == ["a"])
    try place.shell("chown \(Self.other) opflow.yaml")
    #expect(try opflow("run", in: ".", place, status: 2).contains("belongs to user"))
  }

  @Test func `a caller of sudo is trusted`() throws {
    let place = try place()
    try place.shell("chown -R 1234 .")
    _ = try opflow("run", place, status: 2)
    try place.shell("cd mine && SUDO_UID=1234 TRACE=$PWD/../trace \"$opflow\" run")
    #expect(place.lines() == ["a"])
  }

  @Test func `the nearest manifest counts, whoever owns one above`() throws {
    let place = try place()
    try place.write("mine/opflow.yaml", Self.manifest)
    try place.shell("chmod 1777 .; mkdir .opflow; chown -R \(Self.other) opflow.yaml .opflow")
    _ = try opflow("run", place, status: 0)
    _ = try opflow("status", place, status: 0)
    #expect(place.lines() == ["a"])
  }

  @Test func `a checkout of another user is run when it is named, as in a container`() throws {
    let place = try place()
    try place.shell("chmod 777 . && chmod 666 opflow.yaml && chown -R \(Self.other) .")
    let errors = try opflow("run", in: ".", place, status: 2)
    #expect(errors.contains("`-f opflow.yaml`"))
    for _ in 1...2 { _ = try opflow("run -f opflow.yaml", in: ".", place, status: 0) }
    #expect(place.lines() == ["a"])
    _ = try opflow("status opflow.yaml", in: ".", place, status: 0)
    #expect(
      try opflow("status", in: ".", place, status: 2).contains(
        "`--state-dir \(place.path)/.opflow`"))
    _ = try opflow("status --state-dir .opflow", in: ".", place, status: 0)
  }

  @Test func `a manifest that another user has changed since is not resumed unless it is named`()
    throws
  {
    let place = try place("tasks: { a: { run: test -e ok } }")
    try place.shell("chown \(Self.other) opflow.yaml")
    _ = try opflow("run -f opflow.yaml", in: ".", place, status: 1)
    _ = try opflow("resume --state-dir .opflow", in: ".", place, status: 1)
    try place.write("opflow.yaml", "tasks: { a: { run: touch other } }")
    let errors = try opflow("resume --state-dir .opflow", in: ".", place, status: 2)
    #expect(errors.contains("`opflow run --resume -f \(place.path)/opflow.yaml`"))
    #expect(!place.exists("other"))
    _ = try opflow("run --resume -f opflow.yaml", in: ".", place, status: 0)
    #expect(place.exists("other"))
  }

  // MARK: - State folders

  @Test(arguments: [
    "status", "runs", "resume", "resume -n", "logs a", "why a", "wait", "clean", "clean -n",
    "journal verify", "report junit", "run --resume", "run", "cancel a",
  ])
  func `a state folder of another user is refused, by each command`(command: String) throws {
    let place = try place("tasks: { a: { run: exit 1 } }")
    _ = try opflow("run", place, status: 1)
    try place.shell("chmod 1777 .; chown \(Self.other) .opflow")
    let errors = try opflow(command, in: ".", place, status: 2)
    #expect(errors.contains("\(place.path)/.opflow belongs to user \(Self.other)"))
    #expect(errors.contains("`--state-dir \(place.path)/.opflow`"))
    #expect(place.entries(".opflow/runs").count == 1)
  }

  @Test(arguments: ["chmod 777 .opflow", "chown 65534 .opflow/runs", "chmod 1777 .opflow/runs"])
  func `so is one whose runs others may have written`(change: String) throws {
    let place = try place("tasks: { a: { run: exit 1 } }")
    _ = try opflow("run", place, status: 1)
    try place.shell(change)
    _ = try opflow("resume", place, status: 2)
    _ = try opflow("run --resume -f ../opflow.yaml", place, status: 2)
    _ = try opflow("resume --state-dir ../.opflow", place, status: 1)
  }

  @Test func `nothing is left in a state folder that is refused`() throws {
    let place = try place()
    try place.shell("chmod 1777 .; mkdir .opflow; chown \(Self.other) .opflow")
    _ = try opflow("run", place, status: 2)
    #expect(place.entries(".opflow").isEmpty && place.lines().isEmpty)
  }

  // MARK: - Files of variables

  @Test func `a file of variables that may be missing does not count where another user put it`()
    throws
  {
    let tasks = "tasks: { a: { run: 'echo \"$X\" >> trace' } }"
    let place = try place("env_file: ['?.env']\n\(tasks)")
    try place.shell("chmod 1777 .; echo X=evil > .env; chown \(Self.other) .env")
    let errors = try opflow("run", in: ".", place, status: 3)
    #expect(errors.contains("opflow.yaml:1:"))
    #expect(
      errors.contains("belongs to user \(Self.other); if you trust it, name it without the `?`"))
    try place.write("opflow.yaml", "env_file: [.env]\n\(tasks)")
    _ = try opflow("run", in: ".", place, status: 0)
    #expect(place.lines() == ["evil"])
  }
}
