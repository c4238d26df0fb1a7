import OpflowBase
import OpflowPlan
import OpflowSystem
import OpflowWire
import Testing

/// The environment of a task, and reports about it.
@Suite struct WorkerTaskTests {
  @Test func `a worker says hello, runs a task and leaves`() throws {
    let worker = try WorkerHarness([WorkerTask("a", "exit 3")])
    let outcome = try worker.finish("a")
    #expect(outcome.status == .exit(3) && outcome.reason == nil)
    #expect(outcome.usage.wallMicroseconds > 0 && outcome.usage.peakKibibytes > 0)
    #expect(outcome.usage.outputBytes == 0)
    let hello = try #require(worker.hello)
    #expect(hello.version == WorkerHello.currentVersion)
    #expect(hello.planKey == worker.plan.key.description)
    #expect(hello.pid == worker.pid && hello.offer.actions == .run)
    #expect(hello.offer.cores == Machine.cores && hello.host == Machine.hostName)
    #expect(hello.offer.memoryBytes == Int64(Machine.memoryBytes))
    #expect(try worker.logNames.isEmpty)
    try worker.tell(.bye)
    #expect(try worker.wait() == .exit(0))
    #expect(try worker.complaints() == "")
  }

  @Test func `a task finds its environment, its folder and nothing to read`() throws {
    let worker = try WorkerHarness([
      WorkerTask(
        "env/1", "echo $A:$OPFLOW_RUN:$OPFLOW_TASK:$OPFLOW_ATTEMPT:${OPFLOW_RUN_STATE-}; pwd; cat"
      ) { $0.environment = [("A", "x y"), ("OPFLOW_TASK", "no")] },
      WorkerTask("other", "echo ${A-none} $OPFLOW_TASK $OPFLOW_RUN_STATE; env | grep -c ^PWD="),
    ])
    #expect(try worker.finish("env/1").isSuccess)
    #expect(try worker.log("env/1") == "x y:\(worker.run):env/1:1:\n\(worker.folder)/work\n")
    try worker.tell(.setRunState(.failed))
    #expect(try worker.finish("other").isSuccess)
    #expect(try worker.log("other") == "none other failed\n1\n")
  }

  @Test
  func
    `a task leads a group in its worker's session, with no signal blocked or ignored and no descriptor more`()
    throws
  {
    let worker = try WorkerHarness([
      WorkerTask("group", "cut -d' ' -f5,6 /proc/$$/stat; echo $$"),
      WorkerTask("mask", words: ["grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"]),
      WorkerTask("files", words: ["ls", "/proc/self/fd"]),
    ])
    #expect(try worker.finish("group").isSuccess)
    let words = try worker.log("group").split { $0 == " " || $0 == "\n" }
    #expect(words.count == 3 && words[0] == words[2] && words[1] == "\(worker.pid)")
    #expect(try worker.finish("mask").isSuccess)
    #expect(try worker.log("mask") == "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n")
    #expect(try worker.finish("files").isSuccess)
    #expect(try worker.log("files") == "0\n1\n2\n3\n")
  }

  @Test func `words are executed as they stand, found in the task's own path`() throws {
    let worker = try WorkerHarness([
      WorkerTask("echo", words: ["echo", "$HOME", "a  b", ""]),
      WorkerTask("own", words: ["tool"]) { $0.environment = [("PATH", "bin:/bin:/usr/bin")] },
    ])
    #expect(try worker.finish("echo").isSuccess)
    #expect(try worker.log("echo") == "$HOME a  b \n")
    try Path.makeDirectory(worker.folder + "/work/bin")
    try File.open(worker.folder + "/work/bin/tool", [.writeOnly, .create], mode: 0o700)
      .writeAll("#!/bin/sh\necho mine\n")
    #expect(try worker.finish("own").isSuccess)
    #expect(try worker.log("own") == "mine\n")
  }

  @Test func `a plain command needs no shell, and nobody can tell`() throws {
    let worker = try WorkerHarness([
      WorkerTask("direct", "readlink /proc/self/exe /proc/self/cwd\n"),
      WorkerTask("missing", "no-such-program x"),
      WorkerTask("script", "./script a b"),
      WorkerTask("with path", "tool") { $0.environment = [("PATH", "bin:/usr/bin:/bin")] },
    ])
    #expect(try worker.finish("direct").isSuccess)
    #expect(try worker.log("direct").hasSuffix("readlink\n\(worker.folder)/work\n"))
    // The shell's own words and exit code.
    #expect(try worker.finish("missing").status == .exit(127))
    #expect(try worker.log("missing").contains("no-such-program: not found"))
    // No first line: only a shell makes sense of it.
    for (name, text) in [("script", "echo $0 $#"), ("tool", "#!/bin/sh\necho tool in $PWD")] {
      let folder = worker.folder + (name == "tool" ? "/work/bin" : "/work")
      try Path.makeDirectories(folder)
      try File.open(folder + "/" + name, [.writeOnly, .create], mode: 0o700).writeAll(text)
    }
    #expect(try worker.finish("script").isSuccess)
    #expect(try worker.log("script") == "./script 2\n")
    #expect(try worker.finish("with path").isSuccess)
    #expect(try worker.log("with path") == "tool in \(worker.folder)/work\n")
  }

  @Test func `what cannot be started is refused in words`() throws {
    let worker = try WorkerHarness([
      WorkerTask("folder", "true") { $0.directory = "/nowhere/at/all" },
      WorkerTask("program", words: ["no-such-program"]),
      WorkerTask("path", words: ["./missing"]),
      WorkerTask("forbidden", words: ["./forbidden"]),
      WorkerTask("script", words: ["./script"]),
      WorkerTask("interpreter", words: ["./interpreter"]),
      WorkerTask("interpreter in PATH", words: ["interpreter"]) {
        $0.environment = [("PATH", "/nowhere::/bin")]
      },
      WorkerTask("good", "true"),
    ])
    let work = worker.folder + "/work/"
    for (name, mode, text) in [
      ("forbidden", 0o600, "#!/bin/sh\n"), ("script", 0o700, "echo\n"),
      ("interpreter", 0o700, "#!/nowhere\n"),
    ] as [(String, UInt32, String)] {
      try File.open(work + name, [.writeOnly, .create], mode: mode).writeAll(text)
    }
    let expected: [(String, Errno, String)] = [
      (
        "folder", .noSuchFile,
        "cannot enter the folder `/nowhere/at/all`: No such file or directory"
      ),
      ("program", .noSuchFile, "`no-such-program` not found in PATH"),
      ("path", .noSuchFile, "cannot execute `./missing`: No such file or directory"),
      ("forbidden", .accessDenied, "cannot execute `./forbidden`: Permission denied"),
      (
        "script", .notExecutable,
        """
        cannot execute `./script`: Exec format error; a script needs a first line such as #!/bin/sh
        """
      ),
      (
        "interpreter", .noSuchFile,
        """
        cannot execute `./interpreter`: No such file or directory; the file exists, \
        its interpreter does not
        """
      ),
      (
        "interpreter in PATH", .noSuchFile,
        """
        cannot execute `interpreter`: No such file or directory; the file exists, \
        its interpreter does not
        """
      ),
    ]
    for (name, errno, text) in expected {
      try worker.run(name)
      let refusal = try worker.refused(name)
      #expect(refusal.errorNumber == errno.rawValue)
      #expect(refusal.detail == text)
    }
    #expect(try worker.finish("good").isSuccess)
  }

  @Test func `output of both streams is in the log in the order it was written, byte for byte`()
    throws
  {
    let worker = try WorkerHarness([
      WorkerTask("both", "echo one; echo two >&2; printf three"),
      WorkerTask("binary", "head -c 5000000 /dev/zero; printf '\\377\\000\\n\\r'"),
      WorkerTask("closes", "echo before; exec >&- 2>&-; true"),
    ])
    #expect(try worker.finish("both").usage.outputBytes == 13)
    #expect(try worker.log("both") == "one\ntwo\nthree")
    #expect(try worker.finish("binary").usage.outputBytes == 5_000_004)
    let bytes = try File.read(worker.folder + "/logs/binary.log")
    #expect(bytes.count == 5_000_004 && bytes.suffix(4) == [255, 0, 10, 13])
    #expect(try Path.status(worker.folder + "/logs/binary.log").mode == 0o600)
    #expect(try worker.finish("closes").isSuccess)
    #expect(try worker.log("closes") == "before\n")
  }

  @Test func `a later try appends after a header that begins a line`() throws {
    let worker = try WorkerHarness([WorkerTask("a", "printf x"), WorkerTask("quiet", "true")])
    for attempt in 1...3 as ClosedRange<Int32> {
      #expect(try worker.finish("a", attempt: attempt).usage.outputBytes == 1)
      #expect(try worker.finish("quiet", attempt: attempt).isSuccess)
    }
    #expect(try worker.log("a") == "x\n--- attempt 2 ---\nx\n--- attempt 3 ---\nx")
    #expect(try worker.logNames == ["a.log"])
  }

  @Test func `a log that cannot be written stops the task`() throws {
    let worker = try WorkerHarness([
      WorkerTask("a", "yes | head -c 10000000; exec sleep 1000"), WorkerTask("b", "echo"),
    ])
    try Path.makeDirectory(worker.folder + "/logs/a.log")
    try worker.tell(
      .run(worker.id("a"), attempt: 1), .run(worker.id("b"), attempt: 1))
    let outcome = try worker.ended("a")
    #expect(outcome.reason == .output && outcome.errorNumber == Errno.notRegular.rawValue)
    #expect(outcome.status == .signal(15))
    #expect(outcome.usage.outputBytes > 0)
    #expect(try worker.next() == .revoked(worker.id("b"), attempt: 1))
    #expect(try worker.finish("b").isSuccess)
  }

  @Test func `the usage is that of the whole tree`() throws {
    let burn = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"
    let worker = try WorkerHarness([
      WorkerTask("tree", "mkfifo f; (setsid sh -c '\(burn); echo > f' &); read x < f"),
      WorkerTask("nothing", words: ["/bin/true"]),
    ])
    let tree = try worker.finish("tree").usage
    let nothing = try worker.finish("nothing").usage
    #expect(tree.userMicroseconds > nothing.userMicroseconds + 5000)
  }

  @Test func `a watched task's last line is told`() throws {
    let worker = try WorkerHarness([
      WorkerTask("a", "echo one; printf 'two\\rthree\\n'; exec sleep 1000")
    ])
    try worker.tell(.watch(worker.id("a"), on: true))
    try worker.run("a")
    var last = ""
    while last != "three" {
      if case .progress(let progress) = try worker.next() { last = progress.text }
    }
    try worker.stop("a", .kill)
    #expect(try worker.ended("a").reason == .stopped(.kill))
  }
}
