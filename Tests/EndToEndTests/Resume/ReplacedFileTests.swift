import Foundation
import Testing

/// Something else than a file in the place of a file that opflow keeps.
@Suite(.timeLimit(.minutes(30)))
struct ReplacedFileTests {
  enum Kind: String, CaseIterable {
    case fifo, device, folder, socket

    /// Of `$file`.
    var making: String {
      switch self {
      case .fifo: "mkfifo \"$file\""
      case .device: "ln -s /dev/zero \"$file\""
      case .folder: "mkdir \"$file\""
      case .socket:
        "(cd \"$(dirname \"$file\")\" && python3 -c 'import socket, sys;"
          + " socket.socket(socket.AF_UNIX).bind(sys.argv[1])' \"$(basename \"$file\")\")"
      }
    }
  }

  private static let manifest = """
    include: [more.yaml]
    tasks: { a: { run: echo a; exit 1, inputs: [in], outputs: [] } }
    """

  /// Of a state folder with a run that failed.
  static let files =
    ["lock", "records", "records.lock"]
    + [
      "journal.log", "lock", "workers.lock", "watch.lock", "hosts.lock", "take-over.lock", "plan",
      "manifest.yaml", "included", "cache", "progress", "awaited", "worker.log", "control.sock",
      "logs/a.log", "logs", "values",
    ].map { "runs/*/\($0)" }

  static let commands = [
    "status", "why a", "logs a", "runs", "tasks", "plan", "resume -n", "journal verify", "clean -n",
    "report html -o x.html", "wait", "resume", "run",
  ]

  private func place(_ manifest: String = manifest) throws -> Workplace {
    let place = try Workplace(manifest)
    try place.write("more.yaml", "tasks: { b: { run: 'true' } }")
    try place.write("in", "1")
    return place
  }

  @Test(arguments: files, Kind.allCases)
  func `no command waits for it, or reads without end`(file: String, kind: Kind) throws {
    let place = try place()
    try place.opflow("run", status: 1)
    let path =
      file.hasPrefix("runs/*/") ? "$(echo .opflow/runs/*)/\(file.dropFirst(7))" : ".opflow/\(file)"
    let commands = Self.commands.map { "'\($0)'" }.joined(separator: " ")
    let run = try place.shell(
      """
      file=\(path)
      rm -rf "$file"; \(kind.making) || exit 1
      for command in \(commands); do
        (ulimit -v 3000000; exec timeout 100 "$opflow" $command) > out 2>&1 < /dev/null
        code=$?
        [ $code -lt 124 ] || echo "$command: exit $code: $(tail -c 300 out)"
      done
      """)
    #expect(run.output == "")
  }

  @Test func `what stands in a journal's place is told, and stops no other run`() throws {
    let place = try place()
    try place.opflow("run", status: 1)
    try place.shell("rm .opflow/runs/*/journal.log; mkfifo $(echo .opflow/runs/*)/journal.log")
    let errors = try place.opflow("status", place.entries(".opflow/runs")[0], status: 74).errors
    #expect(errors.contains("/journal.log: it is not a regular file; remove it"))
    try place.write("opflow.yaml", "tasks: { a: { run: 'true' } }")
    try place.opflow("run")
  }

  @Test(arguments: [
    "mkfifo", "mkdir", "ln -s gone", "ln -s /dev/zero",
    "python3 -c 'import socket, sys;"
      + " socket.socket(socket.AF_UNIX).bind(sys.argv[1])'",
  ])
  func `no older run takes the place of one whose journal cannot be opened`(_ make: String) throws {
    let place = try Workplace("tasks: { a: { run: 'exit $X' } }")
    try place.shell("X=0 $opflow run; X=1 $opflow run", status: 1)
    let newest = try #require(place.entries(".opflow/runs").sorted().last)
    try place.shell("cd .opflow/runs/\(newest); rm journal.log; \(make) journal.log")
    for words in ["resume", "status", "status opflow.yaml", "status name", "run --resume"] {
      let errors = try place.shell("$opflow \(words)", status: 74).errors
      #expect(
        errors.contains("\(newest)/journal.log: it is not a regular file; remove it"),
        "\(words): \(errors)")
    }
  }

  @Test func `the lock of the records is named where it is not a file`() throws {
    let place = try Workplace("tasks: { a: { run: 'true', inputs: [], outputs: [] } }")
    try place.shell("$opflow run; rm .opflow/records.lock; mkfifo .opflow/records.lock")
    let told = ".opflow/records.lock: it is not a regular file; remove it"
    #expect(try place.opflow("run", status: 74).errors.contains(told))
    #expect(try place.opflow("clean", status: nil).errors.contains(told))
  }

  @Test(arguments: ["ln -s /dev/zero", "mkfifo"])
  func `what stands in the place of a run's manifest is not read`(_ make: String) throws {
    let place = try Workplace("tasks: { a: { run: exit 1 } }")
    try place.opflow("run", status: 1)
    try place.shell("rm opflow.yaml && \(make) opflow.yaml")
    let told = "cannot read \(place.file("opflow.yaml")): it is not a regular file; remove it"
    for words in [["resume"], ["resume", "-n"]] {
      let resume = try place.shell("$opflow \(words.joined(separator: " "))", status: 74)
      #expect(resume.errors.contains(told), "\(resume)")
    }
    #expect(try place.opflow("why", "a").output.contains("a failed"))
  }

  @Test func `a step summary that nobody reads is told at the end of the run`() throws {
    let place = try Workplace("tasks: { a: { run: 'true' } }")
    try place.shell("mkfifo summary")
    let run = try place.opflow(
      "run", "--output", "github", environment: ["GITHUB_STEP_SUMMARY": place.file("summary")])
    #expect(run.errors.contains("cannot write GITHUB_STEP_SUMMARY (\(place.path)/summary): "))
  }

  @Test func `a file that a file server has lent to another machine is waited for`() throws {
    let place = try Workplace("tasks: { a: { run: 'true' } }")
    try place.opflow("run")
    try place.write(
      "lend.py",
      """
      import fcntl, os, signal, sys
      file = os.open(sys.argv[1], os.O_RDWR)
      signal.signal(signal.SIGIO, lambda *_: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK))
      try:
          fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
      except OSError:
          print("none", flush=True)
      else:
          print("lent", flush=True)
      signal.pause()
      """)
    let server = try place.startShell("exec python3 lend.py .opflow/runs/*/journal.log")
    try server.waitForOutput("\n")
    defer { server.send(SIGKILL) }
    #expect(try place.opflow("status").output.contains("succeeded"))
  }
}
