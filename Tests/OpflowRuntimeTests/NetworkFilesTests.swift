import Foundation
import OpflowBase
import OpflowEngine
import OpflowJournal
import OpflowPlan
import OpflowRuntime
import OpflowSystem
import OpflowWire
import Testing

@testable import OpflowWorker

/// Files of a network's file system, which here is said of the one that is there.
@Suite struct NetworkFilesTests {
  private let root = FileManager.default.temporaryDirectory
    .appendingPathComponent("opflow-network-\(UUID().uuidString)").path

  private func inRoot(_ body: () throws -> Void) throws {
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: root) }
    try body()
  }

  private func write(_ text: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: root + "/a"))
  }

  private func look(_ memory: SeenFiles, _ hashes: FileMemory) throws -> FileScan {
    let look = try FileScan(
      [.path("a")], in: root, memory: memory, hashes: hashes, links: .themselves)
    while try !look.goOn(until: .max) {}
    return look
  }

  @Test func `kinds of file systems are known by their numbers`() {
    for type: UInt32 in [0x6969, 0x0BD0_0BD0, 0x4750_4653, 0xFF53_4D42, 0xFE53_4D42, 0x6573_5546] {
      #expect(NetworkFiles.isNetwork(type: type))
    }
    // ext4, xfs, btrfs, tmpfs, overlayfs.
    for type: UInt32 in [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x794C_7630] {
      #expect(!NetworkFiles.isNetwork(type: type))
    }
    #expect(!NetworkFiles.isNetwork(at: "/proc"))
    #expect(!NetworkFiles.isNetwork(at: "/nowhere/at/all"))
  }

  @Test func `whether locks leave a machine is known by the file system`() {
    for type: UInt32 in [0x6969, 0x0BD0_0BD0, 0x4750_4653, 0xEF53] {
      #expect(NetworkFiles.carriesLocks(type: type) { nil })
    }
    for type: UInt32 in [0x0102_1997, 0x1983_0326] {
      #expect(!NetworkFiles.carriesLocks(type: type) { nil })
    }
    for (name, carries) in [("fuse.sshfs", false), ("fuse.glusterfs", true), (nil, false)] {
      #expect(NetworkFiles.carriesLocks(type: 0x6573_5546) { name } == carries)
    }
    #expect(NetworkFiles.carriesLocks(at: "/proc"))
  }

  @Test func `one file system is asked about once`() throws {
    try inRoot {
      var asked = 0
      let network = NetworkFiles { _ in
        asked += 1
        return true
      }
      #expect(network.have(folder: root) && network.have(folder: root))
      #expect(asked == 1)
      // Nor about one that this machine may not see yet.
      #expect(network.have(folder: root + "/missing/too"))
      #expect(asked == 1)
    }
  }

  @Test(arguments: [true, false])
  func `what is remembered of a file is nothing to one of a network`(_ isNetwork: Bool) throws {
    try inRoot {
      try write("one")
      let network = NetworkFiles { _ in isNetwork }
      let before = try look([], FileMemory(.quick, network: network)).files
      let status = try Path.linkStatus(root + "/a")
      let file = try #require(before.first)
      // It says that with these times there was something else.
      let other = SeenFile(
        path: Array("a".utf8), kind: .file, content: PlanKey(high: 1, low: 2),
        stamp: FileStamp(status))
      let hashes = FileMemory(.quick, network: network)
      hashes[FileStamp(status)] = other.content
      let second = try look(SeenFiles([other]), hashes)
      let seen = try #require(second.files.first)
      #expect(seen.content == (isNetwork ? file.content : other.content))
      #expect((seen.stamp == nil) == isNetwork)
      // To write down again what has to be read again would be of no use.
      #expect(!second.hasRead)
    }
  }

  /// Its numbers are others on each machine.
  @Test(arguments: [true, false])
  func `a file of a network is not taken for replaced by what another machine knew it by`(
    _ isNetwork: Bool
  ) throws {
    try inRoot {
      try write("one")
      let network = NetworkFiles { _ in isNetwork }
      var stamp = FileStamp(try Path.linkStatus(root + "/a"))
      stamp.device += 1
      stamp.inode += 1
      let elsewhere = SeenFile(
        path: Array("a".utf8), kind: .file, content: PlanKey(high: 1, low: 2), stamp: stamp)
      let seen = try look(SeenFiles([elsewhere]), FileMemory(.quick, network: network))
      #expect(seen.replaced.isEmpty == isNetwork)
    }
  }

  /// What a worker says of a task of which an input is missing; nil: it waits.
  private func answer(_ files: DeclaredFiles) -> CheckResult? {
    while true {
      files.goOn()
      switch files.nextNews() {
      case .said(.checked(_, _, let result)): return result
      case nil where files.patienceNanoseconds != 0: return nil
      default: break
      }
    }
  }

  @Test(arguments: [true, false])
  func `an input that another machine may have written is looked for again`(
    _ isNetwork: Bool
  ) throws {
    try inRoot {
      let manifest = root + "/opflow.yaml"
      try Data(
        """
        tasks:
          a: { run: 'true' }
          b: { needs: [a], inputs: [made], run: 'true' }
          c: { inputs: [made], run: 'true' }
          d: { needs: [a], inputs: [below/ma*], run: 'true' }
        """.utf8
      ).write(to: URL(fileURLWithPath: manifest))
      let plan = try ManifestFile(at: manifest)
        .compile(runID: "r", set: [], maxParallel: nil).openPlan()
      let run = root + "/.opflow/runs/r"
      try Path.makeDirectories(run)
      let network = NetworkFiles { _ in isNetwork }
      let files = try #require(
        try DeclaredFiles.of(WorkerPlan(plan), runFolder: run, network: network))
      func ask(_ name: String) throws {
        let task = try #require(plan.task(named: name))
        files.ask(TaskCheck(task: task, serial: 1, with: nil, needs: 0, isAsked: false), nil)
      }
      // Nobody wrote it in this run.
      try ask("c")
      #expect(answer(files) == .unfit(detail: "input `made` is missing"))
      func expectStale(_ task: String, at first: CheckResult?) {
        var found = first
        while found == nil { found = answer(files) }
        if case .stale = found { return }
        Issue.record("\(task): \(String(describing: found))")
      }
      try ask("d")
      var first = answer(files)
      #expect((first == nil) == isNetwork)
      try Path.makeDirectories(root + "/below")
      try Data().write(to: URL(fileURLWithPath: root + "/below/made"))
      expectStale("d", at: first)
      try ask("b")
      first = answer(files)
      guard isNetwork else {
        #expect(first == .unfit(detail: "input `made` is missing"))
        return
      }
      #expect(first == nil)
      try Data().write(to: URL(fileURLWithPath: root + "/made"))
      expectStale("b", at: first)
    }
  }

  @Test func `a folder of a network is listed again each time`() throws {
    try inRoot {
      try write("one")
      // Older than what its times can tell.
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: 1000)], ofItemAtPath: root)
      let folders = FolderMemory(network: NetworkFiles { _ in true })
      let root = Array(root.utf8) + [0]
      #expect(try folders.listing(of: root, most: 9).count == 1)
      try Data().write(to: URL(fileURLWithPath: self.root + "/b"))
      #expect(try folders.listing(of: root, most: 9).count == 2)
    }
  }
}
