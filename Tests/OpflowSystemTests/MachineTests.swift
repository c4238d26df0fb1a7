import Testing

@testable import OpflowSystem

@Suite struct MachineTests {
  @Test func `the machine has cores, memory, a name and a boot`() {
    #expect(Machine.cores >= 1)
    #expect(Machine.memoryBytes > 1 << 20)
    #expect(!Machine.hostName.isEmpty)
    #expect(Machine.bootID.utf8.count == 36)
  }

  @Test func `this process is found in proc`() throws {
    let status = try #require(ProcessStatus.read(ProcessID.own))
    #expect(status.pid == ProcessID.own)
    #expect(status.parent == ProcessID.parent)
    #expect(status.startTime > 0)
    #expect(ProcessStatus.read(0) == nil)
  }

  @Test func `a name with parentheses and spaces does not shift the fields`() throws {
    let fields = (7...21).map { "\($0)" }.joined(separator: " ")
    let text = "42 (a) b (c\n)) T 4 5 6 \(fields) 2222 23\n"
    let status = try #require(ProcessStatus(stat: Array(text.utf8)))
    #expect(status.name == "a) b (c\n)")
    #expect(status.state == UInt8(ascii: "T"))
    #expect(status.parent == 4 && status.group == 5 && status.session == 6)
    #expect(status.startTime == 2222)
    #expect(ProcessStatus(stat: Array("42 (x) T 4".utf8)) == nil)
    #expect(ProcessStatus(stat: []) == nil)
  }

  @Test func `a program knows its own words`() {
    #expect(Arguments.words == Array(CommandLine.arguments.dropFirst()))
    #expect(!Arguments.words.isEmpty)
  }

  @Test func `the tightest limit of any group above counts`() throws {
    let folder = try TemporaryFolder()
    let write = { (path: String, text: String) in
      try Path.makeDirectories(Path.parent(of: folder(path)))
      try File.open(folder(path), [.writeOnly, .create]).writeAll(text)
    }
    try write("cpu.max", "max 100000\n")
    try write("a/cpu.max", "250000 100000\n")
    try write("a/memory.max", "1000000\n")
    try write("a/b/cpu.max", "max 100000\n")
    try write("a/b/memory.max", "max\n")
    let second = ControlGroup(groups: Array("0::/a/b\n".utf8), root: folder.path)
    #expect(second.processorQuota == 3)
    #expect(second.memoryLimitBytes == 1_000_000)

    try write("cpu,cpuacct/x/cpu.cfs_quota_us", "50000\n")
    try write("cpu,cpuacct/x/cpu.cfs_period_us", "100000\n")
    try write("memory/x/memory.limit_in_bytes", "4096\n")
    let first = ControlGroup(
      groups: Array("4:cpu,cpuacct:/x\n5:memory:/x\n".utf8), root: folder.path)
    #expect(first.processorQuota == 1)
    #expect(first.memoryLimitBytes == 4096)

    let none = ControlGroup(groups: [], root: folder.path)
    #expect(none.processorQuota == nil && none.memoryLimitBytes == nil)
  }

  @Test func `a string block gives what was put in`() {
    let block = StringBlock(["a", "bc"])
    block.begin()
    block.add("K=")
    let long = [UInt8](repeating: 65, count: 10_000)
    long.withUnsafeBytes { block.add($0) }
    block.end()
    #expect(block.count == 3)
    #expect(String(cString: block[1]) == "bc")
    #expect(block.pointers[2].map { String(cString: $0).utf8.count } == 10_002)
    #expect(block.pointers[3] == nil)
    block.removeLast(2)
    block.append("z")
    #expect(block.pointers[0].map { String(cString: $0) } == "a")
    #expect(block.pointers[1].map { String(cString: $0) } == "z")
    #expect(block.pointers[2] == nil)
  }
}
