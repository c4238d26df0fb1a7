import Drill
import Foundation
import Testing

/// Samples of `scripts/stress faults` and `scripts/stress build`.
struct FaultDrillTests {
  private static let injector =
    URL(fileURLWithPath: Program.path).deletingLastPathComponent().path + "/Injector"

  /// Calls that matter most, of which a run makes few.
  private static let calls: Set<String> = [
    "write", "fdatasync", "fsync", "epoll_ctl", "epoll_pwait2", "clone", "pipe2", "waitid", "ppoll",
    "signalfd4", "eventfd2", "mkdir", "rename", "flock", "ftruncate", "pidfd_send_signal",
  ]

  @Test(arguments: FaultDrill.Scene.allCases)
  func `whatever system call fails, a run ends as is true and the next one is whole`(
    scene: FaultDrill.Scene
  ) throws {
    var drill = try FaultDrill(
      program: Program.path, injector: Self.injector, parent: NSTemporaryDirectory())
    let all = try drill.faults(of: scene).filter { Self.calls.contains($0.call) }
    #expect(all.count > 500)
    // Other ones for the other scene.
    let first = scene == .run ? 0 : 7
    for index in stride(from: first, to: all.count, by: max(all.count / 20, 1)) {
      try drill.check(all[index], in: scene)
    }
    try drill.cleanUp()
  }

  /// Faults while opflow ends a worker: these once kept a run from ending, or would have.
  @Test(arguments: [
    "coordinator epoll_ctl EAGAIN 9 9", "coordinator epoll_ctl ENOMEM 8 0",
    "coordinator pidfd_send_signal EAGAIN 1 0", "coordinator waitid EIO 1 0",
    "download write EAGAIN 3 3", "download write EIO 3 3", "coordinator write EPIPE 8 8",
    "coordinator write EPIPE 9 9", "coordinator write EPIPE 10 10",
  ])
  func `a fault that was found once stays mended`(text: String) throws {
    var drill = try FaultDrill(
      program: Program.path, injector: Self.injector, parent: NSTemporaryDirectory())
    try drill.check(try #require(Fault(text)), in: .run)
    try drill.cleanUp()
  }

  @Test func `a build that is killed and disturbed comes out as one that is not`() throws {
    var drill = try BuildDrill(
      program: Program.path, injector: Self.injector, seed: 11, files: 40,
      parent: NSTemporaryDirectory())
    try drill.run(disturbing: 4)
    #expect(drill.kills + drill.faults > 0)
  }
}
