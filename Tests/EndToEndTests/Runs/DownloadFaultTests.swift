import Glibc
import Testing

/// Downloads that fail, as a user sees them.
struct DownloadFaultTests {
  @Test func `a resume says that a download changed`() throws {
    let place = try Workplace()
    try place.write("one", "content\n")
    try place.write("two", "content\n")
    let manifest = { (source: String) in
      """
      tasks:
        fetch: { download: { url: "file://\(place.file(source))", to: copy } }
        fail: { needs: [fetch], run: test -e ok }
      """
    }
    try place.write("opflow.yaml", manifest("one"))
    try place.opflow("run", status: 1)
    try place.write("opflow.yaml", manifest("two"))
    let forecast = try place.opflow("resume", "--dry-run").output
    #expect(forecast.contains("its `download` changed"), "\(forecast)")
    try place.write("ok", "")
    let resume = try place.opflow("resume")
    #expect(resume.errors.contains("fetch: re-run (its `download` changed)"), "\(resume)")
  }

  @Test(arguments: ["missing", "no program", "a folder"])
  func `a download program that cannot be started is named`(_ kind: String) throws {
    let place = try Workplace(
      """
      max_failures: 0
      tasks:
        fetch: { download: { url: "http://127.0.0.1:1/x", to: x }, retry: 0 }
        make: { run: echo made >> trace }
      """)
    try place.shell("mkdir bin && cp \"$opflow\" bin/opflow")
    let program = place.file("bin/opflow-download")
    switch kind {
    case "no program": try place.write("bin/opflow-download", "")
    case "a folder": try place.shell("mkdir bin/opflow-download")
    default: break
    }
    let run = try place.shell("bin/opflow run 2>&1", status: 1)
    let said = run.output.split(separator: "\n").filter { $0.contains("fetch failed") }
    #expect(said.count >= 2, "\(run)")
    for line in said { #expect(line.contains("cannot execute \(program): "), "\(run)") }
    #expect(place.lines() == ["made"])
    let status = try place.opflow("status").output
    #expect(status.contains("cannot execute \(program): "), "\(status)")
    // The user can mend this and resume.
    try place.shell("rm -rf bin")
    let resume = try place.opflow("resume", status: 1)
    #expect(resume.errors.contains("cannot connect"), "\(resume)")
  }

  @Test func `each message about a killed worker names the signal`() throws {
    let place = try Workplace(
      """
      tasks:
        fetch: { download: { url: "http://127.0.0.1:1/x", to: x }, retry: 0 }
      """)
    try place.shell("mkdir bin && cp \"$opflow\" bin/opflow")
    let key = "$(sed -n 's/.*plan=\\([0-9a-f]*\\).*/\\1/p' $2/journal.log)"
    try place.writeProgram(
      "bin/opflow-download",
      """
      #!/bin/sh
      printf 'hello\\t10\\t%s\\t%s\\tcores=2\\tactions=download\\thost=vm\\n' \(key) $$
      read order
      kill -SEGV $$

      """)
    let run = try place.shell("bin/opflow run 2>&1", status: 1).output
    let why = "its worker was lost: it was killed by SIGSEGV"
    #expect(run.contains("fetch interrupted: \(why)"), "\(run)")
    #expect(run.contains("fetch failed (attempt 4): \(why)"), "\(run)")
  }

  @Test func `check finds two names of one file through existing links`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { download: { url: "http://h/x", to: real/x } }
        b: { dir: other, download: { url: "http://h/x", to: ../link/./x.part } }
        c: { download: { url: "http://h/x", to: alias } }
        d: { download: { url: "http://h/x", to: file } }
      """)
    try place.opflow("check")
    try place.shell("mkdir real && ln -s real link && ln -s file alias")
    let check = try place.opflow("check", status: 3)
    #expect(
      check.errors.contains("`../link/./x.part` is the temporary file of a download"), "\(check)")
    #expect(check.errors.contains("`file` is written twice"), "\(check)")
  }

  @Test func `a link that appears during the run does not mix contents`() throws {
    let place = try Workplace()
    try place.write("one", String(repeating: "one", count: 1000))
    try place.write("two", String(repeating: "two", count: 1000))
    try place.write(
      "opflow.yaml",
      """
      max_failures: 0
      tasks:
        link: { run: mkdir -p real && ln -s real link }
        a: { needs: link, download: { url: "file://\(place.file("one"))", to: real/x } }
        b: { needs: link, download: { url: "file://\(place.file("two"))", to: link/x.part } }
      """)
    let run = try place.opflow("run", status: nil)
    let states = try place.status()
    if states["a"]?.state == "succeeded" {
      #expect(try place.text("real/x").hasPrefix("one"), "\(run)")
    } else {
      #expect(!place.exists("real/x"), "\(run)")
    }
  }

  @Test(.enabled(if: geteuid() == 0, "mounting a file system needs root"))
  func `a full disk is named, and a resume continues the download`() throws {
    let place = try Workplace()
    let mount = try place.shell("mkdir m && mount -t tmpfs -o size=2m none m", status: nil)
    guard mount.status == 0 else { return }
    defer { _ = try? place.shell("umount m") }
    let server = try place.startShell("exec python3 \(Program.package)/jobs/serve.py --port 0")
    try server.waitForOutput("\n")
    let address = server.outputText.split(separator: " ").last.map { $0.dropLast() } ?? ""
    try place.write(
      "opflow.yaml", "tasks: { fetch: { download: { url: '\(address)/north.tar', to: m/x } } }\n")
    let run = try place.opflow("run", status: nil)
    #expect(run.errors.contains("cannot write \(place.file("m/x.part")): No space left"), "\(run)")
    #expect(place.exists("m/x.part.meta"))
    try place.shell("mount -o remount,size=20m m")
    let resume = try place.opflow("resume")
    #expect(resume.errors.contains("resumed at "), "\(resume)")
  }

  @Test func `a device at the target is not replaced`() throws {
    guard geteuid() == 0 else { return }
    let place = try Workplace()
    try place.write("source", "content\n")
    try place.write(
      "opflow.yaml",
      "tasks: { fetch: { download: { url: 'file://\(place.file("source"))', to: null } } }\n"
        .replacing("to: null", with: "to: 'null'"))
    try place.shell("mknod null c 1 3 || mkfifo null")
    let run = try place.opflow("run", status: 1)
    #expect(run.errors.contains("it is a "), "\(run)")
    try place.shell("test ! -f null && ! ls | grep part")
  }

  @Test func `a password in an invalid URL is not shown`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { download: { url: "http://me:hush@h:99999/", mirrors: [me:hush@h], to: x } }
      """)
    for command in ["check", "run", "plan"] {
      let said = try place.opflow(command, status: 3)
      #expect(said.errors.contains("***@h"), "\(said)")
      #expect(!said.errors.contains("hush") && !said.output.contains("hush"), "\(said)")
    }
  }

  @Test func `progress lines show that a download stalls`() throws {
    let place = try Workplace()
    try place.write(
      "server.py",
      """
      import socket
      server = socket.create_server(("127.0.0.1", 0))
      print("http://127.0.0.1:%d" % server.getsockname()[1], flush=True)
      peer, _ = server.accept()
      peer.recv(65536)
      peer.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 10\\r\\n\\r\\nhello")
      open("gate").read()
      peer.sendall(b"world")
      peer.recv(1)
      """)
    try place.shell("mkfifo gate")
    let server = try place.startShell("exec python3 server.py")
    try server.waitForOutput("\n")
    let address = server.outputText.split(separator: "\n").first ?? ""
    try place.write(
      "opflow.yaml", "tasks: { fetch: { download: { url: '\(address)/x', to: x } } }\n")
    let live = try place.start("run", "--output", "line")
    try live.waitForError("5B of 10B (50%), stalled for ")
    try place.shell("> gate")
    let run = try live.finish()
    #expect(run.status == 0, "\(run)")
    #expect(try place.text("x") == "helloworld")
  }
}
