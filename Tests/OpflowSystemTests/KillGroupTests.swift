import Glibc
import OpflowSystem
import Testing

struct KillGroupTests {
  private static let name = "opflow-test-\(ProcessID.own)"

  private static let path: String? = {
    guard let home = KillGroup.home, let group = KillGroup.make("\(home)/\(name)-0") else {
      return nil
    }
    group.remove()
    return "\(home)/\(name)"
  }()

  private func start(_ script: String, _ group: Int32) throws -> SpawnedProcess {
    let null = try File.openNull()
    return try Program.spawn(
      "/bin/sh", arguments: ["-c", script],
      input: null.rawValue, output: null.rawValue, error: null.rawValue, options: .newSession,
      group: group)
  }

  @Test(.enabled(if: path != nil, "no control group of the second version can be made here"))
  func `all that a group holds is killed in one stroke`() throws {
    let path = try #require(Self.path)
    guard let group = KillGroup.make(path), let folder = group.open() else {
      Issue.record("no group \(path)")
      return
    }
    let process = try start("setsid sleep 1000 & exec sleep 1000", folder.rawValue)
    let members = try String(decoding: File.read(path + "/cgroup.procs"), as: UTF8.self)
    #expect(members.split(separator: "\n").contains("\(process.pid)"))
    group.kill()
    #expect(try process.wait().status == .signal(9))
    // The group is empty when the last of them has ended, which the kernel tells.
    while try String(decoding: File.read(path + "/cgroup.events"), as: UTF8.self)
      .contains("populated 1")
    { sched_yield() }
    group.remove()
    #expect(!Path.exists(path))
  }

  @Test func `a program starts where there is no such group`() throws {
    let null = try File.openNull()
    let process = try start("exec sleep 1000", null.rawValue)
    process.kill()
    #expect(try process.wait().status == .signal(9))
  }

  @Test func `a group that cannot be made is none`() {
    #expect(KillGroup.make("/proc/none/such") == nil)
    KillGroup.kill("/proc/none/such")
    KillGroup.remove("/proc/none/such")
  }
}
