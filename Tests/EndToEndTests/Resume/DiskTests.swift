import Foundation
import Testing

/// State folders that cannot be written.
struct DiskTests {
  /// Mounting needs root, and a kernel that lets it.
  static let canMount: Bool = {
    guard geteuid() == 0, let place = try? Workplace() else { return false }
    let mount = try? place.shell(
      "mkdir m && mount -t tmpfs -o size=64k none m && umount m", status: nil)
    return mount?.status == 0
  }()

  static let isSanitized = ProcessInfo.processInfo.environment["ASAN_OPTIONS"] != nil

  @Test func `a state folder that is no folder is a clear error`() throws {
    let place = try Workplace("tasks: { a: { run: 'echo a >> trace' } }")
    try place.write(".opflow", "a file")
    let run = try place.opflow("run", status: 74)
    #expect(run.errors.contains(".opflow"))
    #expect(place.lines().isEmpty)
  }

  @Test func `a manifest that the disk does not give is an I/O error`() throws {
    let place = try Workplace()
    let run = try place.opflow("run", "/proc/self/mem", status: 74)
    #expect(run.errors.contains("Input/output error"))
  }

  @Test(
    .enabled(if: DiskTests.canMount, "mounting a file system needs root"),
    .disabled(if: DiskTests.isSanitized, "the address sanitizer reads its settings from /proc"))
  func `the command line is known where /proc cannot be read`() throws {
    let place = try Workplace()
    let script = "mount -t tmpfs none /proc && exec \"$opflow\" version"
    let version = try place.shell("exec unshare --mount sh -c '\(script)'")
    #expect(version.output.hasPrefix("opflow "), "\(version)")
  }

  @Test(.enabled(if: DiskTests.canMount, "mounting a file system needs root"))
  func `a read-only folder is a clear error`() throws {
    let place = try Workplace()
    try place.write("m/x", "")
    try place.shell(
      "mount -t tmpfs none m && echo 'tasks: { a: { run: \"true\" } }' > m/opflow.yaml")
    defer { _ = try? place.shell("umount m") }
    try place.shell("mount -o remount,ro m")
    let run = try place.opflow("run", "m/opflow.yaml", status: 74)
    #expect(run.errors.lowercased().contains("read-only file system"))
    #expect(run.errors.contains("m/.opflow"))
  }

  @Test(.enabled(if: DiskTests.canMount, "mounting a file system needs root"))
  func `a full disk ends the run with 74, and it resumes once there is room`() throws {
    let place = try Workplace()
    try place.write("m/x", "")
    try place.shell("mount -t tmpfs -o size=192k none m")
    defer { _ = try? place.shell("umount m") }
    var manifest = "max_parallel: 2\ntasks:\n"
    for index in 0..<400 {
      manifest += "  task-\(index): { run: 'echo \(index) >> trace; head -c 1000 /dev/zero' }\n"
    }
    try place.write("opflow.yaml", manifest)
    let run = try place.opflow("run", "--state-dir", "m/state", "--output", "quiet", status: 74)
    #expect(run.errors.lowercased().contains("no space left"))
    place.expectNothingAlive()
    try place.shell("mount -o remount,size=16m m")
    let journal = try place.shell("cat m/state/runs/*/journal.log").output
    let done = Set(
      journal.split(separator: "\n").compactMap { JournalLine(String($0)) }
        .filter { $0.event == "success" && $0.isIntact }.map(\.task))
    try place.opflow("resume", "--state-dir", "m/state", "--output", "quiet")
    let counts = Dictionary(place.lines().map { ($0, 1) }, uniquingKeysWith: +)
    #expect(counts.count == 400)
    for (index, count) in counts where done.contains("task-\(index)") { #expect(count == 1) }
  }

  /// Nothing but the journal grows, so the disk is full in the middle of a line of it.
  @Test(
    .enabled(if: DiskTests.canMount, "mounting a file system needs root"),
    arguments: [20, 64, 68, 76])
  func `a journal torn by a full disk loses nothing that was proven`(kilobytes: Int) throws {
    let place = try Workplace()
    try place.write("m/x", "")
    try place.shell("mount -t tmpfs -o size=\(kilobytes)k none m")
    defer { _ = try? place.shell("umount m") }
    var manifest = "max_parallel: 2\ntasks:\n"
    for index in 0..<250 { manifest += "  t\(index): { run: 'echo t\(index) >> trace' }\n" }
    try place.write("opflow.yaml", manifest)
    let arguments = ["--state-dir", "m/state", "--output", "quiet"]
    let run = try place.shell("exec $opflow run \(arguments.joined(separator: " "))", status: 74)
    #expect(run.errors.lowercased().contains("no space left"), "\(run)")
    place.expectNothingAlive()
    // A resume without room ends in the same way, and spoils nothing.
    let again = try place.shell(
      "exec $opflow run --resume \(arguments.joined(separator: " "))", status: 74)
    #expect(again.errors.lowercased().contains("no space left"), "\(again)")
    try place.shell("mount -o remount,size=16m m")
    let journal = try place.shell("cat m/state/runs/*/journal.log").output
    let lines = journal.split(separator: "\n").compactMap { JournalLine(String($0)) }
    let done = Set(lines.filter { $0.event == "success" && $0.isIntact }.map(\.task))
    try place.shell("exec $opflow run --resume \(arguments.joined(separator: " "))")
    let counts = Dictionary(place.lines().map { ($0, 1) }, uniquingKeysWith: +)
    #expect(counts.count == 250)
    for (task, count) in counts where done.contains(task) { #expect(count == 1, "\(task)") }
    place.expectNothingAlive()
  }

  @Test func `a task that fills its own disk fails alone`() throws {
    let place = try Workplace(
      """
      max_failures: 0
      tasks:
        full: { run: echo x > /dev/full }
        other: { run: echo other >> trace }
      """)
    try place.opflow("run", status: 1)
    #expect(place.lines() == ["other"])
  }

  @Test(.enabled(if: DiskTests.canMount, "mounting a file system needs root"))
  func `a disk that the output of a task fills is told as that, wherever it is asked`() throws {
    let place = try Workplace()
    try place.write("m/x", "")
    try place.shell("mount -t tmpfs -o size=1m none m")
    defer { _ = try? place.shell("umount m") }
    let here = try place.gate("here")
    try place.write(
      "opflow.yaml",
      """
      tasks:
        big: { run: "read x < go; yes | head -c 3000000" }
        side: { run: "echo here > here; exec sleep 1000" }
      """)
    let go = try place.gate("go")
    let run = try place.start("run", "--state-dir", "m/state", "-j2", "--output", "quiet")
    _ = try here.next()
    try go.letGo()
    let end = try run.finish()
    #expect(end.status == 74)
    #expect(
      end.errors.contains(
        /big failed after [0-9.]+s: opflow cannot write its output: no space left on the device\n/),
      "\(end)")
    #expect(end.errors.contains(" interrupted by an I/O error in "), "\(end)")
    let why = try place.opflow("why", "side", "--state-dir", "m/state").output
    #expect(why.contains(": opflow could not write a file of the run\n"), "\(why)")
    place.expectNothingAlive()
  }

  @Test(.enabled(if: DiskTests.canMount, "mounting a file system needs root"))
  func `a request that cannot be written down is refused, and told as not done`() throws {
    let place = try Workplace()
    try place.write("m/x", "")
    try place.shell("mount -t tmpfs -o size=64k none m")
    defer { _ = try? place.shell("umount m") }
    try place.write(
      "opflow.yaml",
      "tasks: { a: { run: 'echo here > here; read x < go' }, b: { needs: [a], run: 'true' } }")
    let here = try place.gate("here")
    _ = try place.gate("go")
    let run = try place.start("run", "--state-dir", "m/state", "--output", "line")
    _ = try here.next()
    try place.shell("cat /dev/zero > m/full 2> /dev/null; true")
    // The last page of the journal has room for some more lines.
    var refused = false
    for round in 0..<200 where !refused {
      let asked = try place.opflow(
        "priority", "b", "\(round)", "--state-dir", "m/state", status: nil)
      refused = asked.status != 0
    }
    #expect(refused)
    let end = try run.finish()
    #expect(end.status == 74)
    #expect(
      end.errors.contains(
        "warning: opflow could not record this request and discards it: priority of b set to "),
      "\(end)")
  }

  /// A project whose records lie on a disk of their own, of that size.
  private func recording(kilobytes: Int) throws -> Workplace {
    let place = try Workplace(
      """
      max_failures: 0
      tasks:
        a: { inputs: ["in/*"], run: "echo a >> trace" }
        b: { needs: a, run: "echo b >> trace" }
      """)
    try place.shell(
      """
      mkdir m in .opflow; cd in; seq 100 | xargs touch -d 2020-01-01; cd ..
      mount -t tmpfs -o size=\(kilobytes)k none m
      touch m/records .opflow/records; mount --bind m/records .opflow/records
      """)
    return place
  }

  private func leave(_ place: Workplace) {
    _ = try? place.shell("umount .opflow/records; umount m")
  }

  @Test(.enabled(if: DiskTests.canMount, "mounting a file system needs root"))
  func `a record that cannot be written ends the run with 74, and says where`() throws {
    // Room for the line of the start.
    let place = try recording(kilobytes: 4)
    defer { leave(place) }
    let run = try place.opflow("run", "--output", "line", status: 74)
    #expect(
      run.errors.contains("it succeeded, but opflow cannot write its record to "), "\(run)")
    #expect(run.errors.contains("/.opflow/records: No space left on device"), "\(run)")
    #expect(run.errors.contains(" interrupted by an I/O error in "), "\(run)")
    #expect(place.lines() == ["a"])
    place.expectNothingAlive()
    try place.shell("mount -o remount,size=1m m")
    try place.opflow("resume")
    #expect(place.lines() == ["a", "a", "b"])
    try place.opflow("run")
    #expect(place.lines() == ["a", "a", "b", "b"])
  }

  @Test(.enabled(if: DiskTests.canMount, "mounting a file system needs root"))
  func `a start that cannot be noted ends the run with 74, and nothing starts`() throws {
    let place = try recording(kilobytes: 4)
    defer { leave(place) }
    try place.shell("head -c 4095 /dev/zero | tr '\\0' x > m/records; echo >> m/records")
    let run = try place.opflow("run", "--output", "line", status: 74)
    #expect(run.errors.contains("a failed: cannot write its start to "), "\(run)")
    #expect(run.errors.contains("/.opflow/records: No space left on device"), "\(run)")
    #expect(place.lines() == [])
    try place.shell("mount -o remount,size=1m m")
    try place.opflow("resume")
    #expect(place.lines() == ["a", "b"])
  }

  @Test(.enabled(if: DiskTests.canMount, "mounting a file system needs root"))
  func `what was read anew and cannot be remembered is told, and nothing is lost`() throws {
    let place = try recording(kilobytes: 64)
    defer { leave(place) }
    try place.opflow("run")
    try place.shell("cat /dev/zero > m/full 2> /dev/null; touch -d '2021-01-01 00:00:00.5' in/*")
    var told = ""
    var count = 0
    // A file's times are not remembered while they are too young to tell the next change.
    while told.isEmpty, count < 1_000 {
      count += 1
      told =
        try place.opflow("run", "--output", "line").errors
        .split(separator: "\n").first { $0.hasPrefix("warning: ") }.map(String.init) ?? ""
    }
    #expect(told.hasPrefix("warning: cannot write the hashes of files to "), "\(told)")
    #expect(told.contains("/.opflow/records: No space left on device"), "\(told)")
    #expect(place.lines() == ["a", "b"] + [String](repeating: "b", count: count))
  }

  @Test(.enabled(if: DiskTests.canMount, "mounting a file system needs root"))
  func `what was seen of inputs and cannot be kept ends the run with 74`() throws {
    let place = try Workplace("tasks: { a: { inputs: [\"in/*\"], run: \"echo a >> trace\" } }")
    try place.shell("mkdir m in; cd in; seq 2000 | xargs touch -d 2020-01-01")
    try place.shell("mount -t tmpfs -o size=192k none m")
    defer { _ = try? place.shell("umount m") }
    let run = try place.opflow("run", "--state-dir", "m/state", "--output", "line", status: 74)
    #expect(
      run.errors.contains("a failed: cannot write the state of its inputs to "), "\(run)")
    #expect(run.errors.contains("No space left on device"), "\(run)")
    #expect(place.lines() == [])
    try place.shell("mount -o remount,size=16m m")
    try place.opflow("resume", "--state-dir", "m/state")
    #expect(place.lines() == ["a"])
  }
}
