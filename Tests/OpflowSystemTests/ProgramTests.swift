import Glibc
import Testing

@testable import OpflowSystem

@Suite struct ProgramTests {
  /// Runs a program with its output in a pipe, to its end.
  private func run(
    _ path: String, _ arguments: [String], additions: [String] = [],
    options: Program.Options = []
  ) throws -> (output: String, ended: EndedProcess) {
    let null = try File.openNull()
    let process: SpawnedProcess
    let output: [UInt8]
    do {
      let pipe = try Pipe()
      process = try Program.spawn(
        path, arguments: arguments, additions: additions, input: null.rawValue,
        output: pipe.write.rawValue, error: pipe.write.rawValue, options: options)
      output = try readOutput(pipe)
    }
    return (String(decoding: output, as: UTF8.self), try process.wait())
  }

  private func readOutput(_ pipe: consuming Pipe) throws -> [UInt8] {
    let read = try pipe.read.duplicate()
    _ = consume pipe
    return try read.readAll()
  }

  @Test func `a program gets its words and its environment, and its end is told`() throws {
    let result = try run(
      "/bin/sh", ["-c", "echo \"$1 $X\"; exit 3", "sh", "word"], additions: ["X=value"])
    #expect(result.output == "word value\n")
    #expect(result.ended.status == .exit(3))
    #expect(result.ended.peakKibibytes > 0)
    #expect(try run("/bin/sh", ["-c", "kill -9 $$"]).ended.status == .signal(9))
  }

  @Test func `a program inherits three descriptors and no other`() throws {
    let extra = try File.openNull()
    try extra.place(at: 77)
    // The fourth is what it lists the folder through.
    #expect(try run("/bin/ls", ["/proc/self/fd"]).output == "0\n1\n2\n3\n")
  }

  @Test func `a program starts with no signal blocked or ignored`() throws {
    let signals: SignalSet = [.user1, .terminate]
    try signals.block()
    let mask = "grep -E 'Sig(Blk|Ign)' /proc/self/status | tr -d '\\t\\n'"
    let result = try run("/bin/sh", ["-c", mask])
    #expect(result.output == "SigBlk:0000000000000000SigIgn:0000000000000000")
    try signals.unblock()
  }

  @Test func `a session of its own`() throws {
    let result = try run("/bin/sh", ["-c", "cut -d' ' -f6 /proc/$$/stat"], options: .newSession)
    #expect(result.output == "\(result.ended.pid)\n")
  }

  @Test func `what cannot be executed says why, and leaves no child`() async throws {
    await #expect(processExitsWith: .success) {
      for (path, error) in [("/nowhere/program", Errno.noSuchFile), ("/etc/passwd", .accessDenied)]
      {
        #expect(throws: ProgramError(errno: error, step: .execute)) {
          _ = try Program.spawn(path, arguments: [], input: 0, output: 1, error: 2, options: [])
        }
      }
      #expect(ProcessTree.children(of: ProcessID.own).isEmpty)
    }
  }

  private func start(
    _ words: [String], searchPath: String, directory: String, output: Int32
  ) throws -> SpawnedProcess {
    let null = try File.openNull()
    let arguments = StringBlock(words)
    let texts = StringBlock([searchPath, directory])
    let environment = StringBlock()
    defer { withExtendedLifetime((arguments, texts, environment)) {} }
    return try Program.spawn(
      ProgramStart(
        file: arguments[0], searchPath: texts[0], arguments: arguments.pointers,
        environment: environment.pointers, directory: texts[1], input: null.rawValue,
        output: output, error: output, options: []))
  }

  @Test func `a name is searched in the program's own path, after the change of directory`() throws
  {
    let folder = try TemporaryFolder()
    try Path.makeDirectories(folder("sub/bin"))
    try File.open(folder("sub/bin/tool"), [.writeOnly, .create], mode: 0o700)
      .writeAll("#!/bin/sh\necho found in $PWD\n")
    let pipe = try Pipe()
    let process = try start(
      ["tool"], searchPath: "/nowhere:bin:/bin", directory: folder("sub"),
      output: pipe.write.rawValue)
    #expect(try process.wait().status == .exit(0))
    #expect(try readOutput(pipe) == Array("found in \(Path.real(folder("sub")))\n".utf8))
  }

  @Test func `a program that comes to stand in an earlier folder is taken from then on`() throws {
    let folder = try TemporaryFolder()
    let places = (0..<4).map { "place-\($0)" }
    let searchPath = places.map { folder($0) }.joined(separator: ":")
    for place in places { try Path.makeDirectories(folder(place)) }
    func put(_ place: String, mode: UInt32 = 0o700) throws {
      try File.open(folder("\(place)/tool"), [.writeOnly, .create], mode: mode)
        .writeAll("#!/bin/sh\necho \(place)\n")
    }
    func found() throws -> String {
      let pipe = try Pipe()
      let process = try start(
        ["tool"], searchPath: searchPath, directory: "/", output: pipe.write.rawValue)
      #expect(try process.wait().status == .exit(0))
      return String(decoding: try readOutput(pipe), as: UTF8.self)
    }
    try put("place-2")
    #expect(try found() == "place-2\n")
    #expect(try found() == "place-2\n")
    // Behind it: no change. Before it, but not to be executed: the next one serves.
    try put("place-3")
    try put("place-1", mode: 0o600)
    #expect(try found() == "place-2\n")
    try put("place-0")
    #expect(try found() == "place-0\n")
    try Path.remove(folder("place-0/tool"))
    #expect(try found() == "place-2\n")
    try Path.remove(folder("place-2/tool"))
    #expect(try found() == "place-3\n")
  }

  @Test func `a missing folder and a forbidden program are told apart`() throws {
    let folder = try TemporaryFolder()
    try File.open(folder("tool"), [.writeOnly, .create], mode: 0o600).close()
    #expect(throws: ProgramError(errno: .noSuchFile, step: .directory)) {
      _ = try start(["true"], searchPath: "/bin", directory: folder("none"), output: 2)
    }
    #expect(throws: ProgramError(errno: .accessDenied, step: .execute)) {
      _ = try start(["tool"], searchPath: "\(folder.path):/bin", directory: "/", output: 2)
    }
    #expect(throws: ProgramError(errno: .noSuchFile, step: .execute)) {
      _ = try start(["no-such-tool"], searchPath: "/bin", directory: "/", output: 2)
    }
  }

  @Test func `a program that is looked for and not found is told by what the system says`() {
    #expect(throws: Errno.noSuchFile) {
      _ = try Program.spawn(
        searching: ["no-such-tool"], input: 0, output: 1, error: 2, options: [])
    }
  }

  @Test func `descriptors that stand in each other's place are moved`() async throws {
    await #expect(processExitsWith: .success) {
      let pipe = try Pipe()
      let folder = try TemporaryFolder()
      let input = try File.open(folder("in"), [.readWrite, .create])
      try input.writeAll("from the file")
      try input.seek(to: 0)
      // Input is descriptor 1, and output descriptor 0.
      try input.place(at: 1)
      try pipe.write.place(at: 0)
      let process = try Program.spawn(
        "/bin/cat", arguments: [], input: 1, output: 0, error: 2, options: [])
      #expect(try process.wait().status == .exit(0))
      var bytes = [UInt8](repeating: 0, count: 100)
      let count = try bytes.withUnsafeMutableBufferPointer { bytes throws(Errno) in
        try pipe.read.read(into: UnsafeMutableRawBufferPointer(bytes))
      }
      #expect(bytes.prefix(count).elementsEqual("from the file".utf8))
    }
  }

  @Test func `a subreaper sees and ends what forked twice and left the session`() async throws {
    await #expect(processExitsWith: .success) {
      try ProcessTree.becomeSubreaper()
      let null = try File.openNull()
      let pipe = try Pipe()
      let script =
        "trap '' TERM; (setsid sh -c 'echo $$; exec sleep 1000' &) ; echo main; sleep 1000"
      let process = try Program.spawn(
        "/bin/sh", arguments: ["-c", script], input: null.rawValue, output: pipe.write.rawValue,
        error: 2, options: .newSession)
      var text: [UInt8] = []
      var byte: [UInt8] = [0]
      while text.count(where: { $0 == 10 }) < 2 {
        _ = try byte.withUnsafeMutableBufferPointer { byte throws(Errno) in
          try pipe.read.read(into: UnsafeMutableRawBufferPointer(byte))
        }
        text.append(byte[0])
      }
      let words = String(decoding: text, as: UTF8.self).split(separator: "\n")
      let grandchild = try #require(words.compactMap { Int32($0) }.first)
      #expect(ProcessTree.descendants(of: ProcessID.own).contains(grandchild))
      var reaped: Set<Int32> = []
      while true {
        var delivery = ProcessTree.Delivery()
        ProcessTree.signalAll(.kill, &delivery)
        do throws(Errno) {
          while let ended = try EndedProcess.reap(.any, block: true) { reaped.insert(ended.pid) }
        } catch {
          #expect(error == .noChild)
          break
        }
      }
      #expect(reaped.contains(grandchild) && reaped.contains(process.pid))
    }
  }

  @Test func `what is started to tidy up is not told to end`() async throws {
    await #expect(processExitsWith: .success) {
      try ProcessTree.becomeSubreaper()
      let null = try File.openNull()
      let script = """
        trap 'i=0; while [ $i -lt 50 ]; do /bin/true || exit 3; i=$((i + 1)); done; exit 4' TERM
        sh -c 'echo; exec sleep 1000' & wait
        """
      for _ in 0..<20 {
        let pipe = try Pipe()
        let process = try Program.spawn(
          "/bin/sh", arguments: ["-c", script], input: null.rawValue, output: pipe.write.rawValue,
          error: 2, options: .newSession)
        var byte: [UInt8] = [0]
        _ = try byte.withUnsafeMutableBufferPointer { byte throws(Errno) in
          try pipe.read.read(into: UnsafeMutableRawBufferPointer(byte))
        }
        var delivery = ProcessTree.Delivery()
        ProcessTree.signalAll(.terminate, &delivery)
        #expect(try process.wait().status == .exit(4))
        while let _ = try? EndedProcess.reap(.any, block: true) {}
      }
    }
  }

  @Test func `what is below one that others tell is left to them, as a kill is not`() async throws {
    await #expect(processExitsWith: .success) {
      try ProcessTree.becomeSubreaper()
      let null = try File.openNull()
      let pipe = try Pipe()
      let process = try Program.spawn(
        "/bin/sh", arguments: ["-c", "sh -c 'echo; exec sleep 1000'; exit 4"],
        input: null.rawValue, output: pipe.write.rawValue, error: 2, options: .newSession)
      var byte: [UInt8] = [0]
      _ = try byte.withUnsafeMutableBufferPointer { byte throws(Errno) in
        try pipe.read.read(into: UnsafeMutableRawBufferPointer(byte))
      }
      var delivery = ProcessTree.Delivery()
      ProcessTree.signalAll(.terminate, sparing: { $0 == process.pid }, &delivery)
      #expect(delivery.reached.isEmpty)
      ProcessTree.signalAll(.kill, sparing: { $0 == process.pid }, &delivery)
      #expect(delivery.reached.count == 2)
      while let _ = try? EndedProcess.reap(.any, block: true) {}
    }
  }

  @Test func `signals come as values once they are blocked`() async throws {
    await #expect(processExitsWith: .success) {
      let signals = try SignalDescriptor([.user1, .child])
      #expect(try signals.next() == nil)
      // To this thread: the others of a test's process have not blocked it.
      raise(Signal.user1.rawValue)
      var set = PollSet(slots: 1)
      set.set(0, signals.rawValue)
      #expect(try set.wait(nanoseconds: -1))
      let next = try #require(try signals.next())
      #expect(next.signal == .user1)
      #expect(next.senderPID == ProcessID.own)
    }
  }
}
