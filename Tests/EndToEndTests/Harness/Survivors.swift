import CTestSupport
import Foundation
import Glibc

/// Finds what a test left running, by the mark in its environment or its words (proc(5), environ,
/// cmdline).
enum Survivors {
  /// `PID COMMAND` of each process that carries the mark and is no zombie.
  static func find(mark: String) -> [(pid: Int32, command: String)] {
    let wanted = Data("OPFLOW_TEST_MARK=\(mark)".utf8)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { Int32($0) }.compactMap { pid in
      let command = contents("/proc/\(pid)/cmdline") ?? Data()
      let isMarked =
        contents("/proc/\(pid)/environ")?.range(of: wanted) != nil
        || command.range(of: Data(mark.utf8)) != nil
      guard isMarked else { return nil }
      return (pid, String(decoding: command.map { $0 == 0 ? 32 : $0 }, as: UTF8.self))
    }
  }

  /// Waits for the end of each; returns those that outlive the hang limit.
  static func waitForNone(mark: String) -> [String] {
    while true {
      let found = find(mark: mark)
      if found.isEmpty { return [] }
      for (pid, _) in found {
        let descriptor = ctest_pidfd_open(pid)
        guard descriptor >= 0 else { continue }
        defer { close(descriptor) }
        var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        // Much longer than opflow's own promise, much shorter than the limit of a hung test.
        if poll(&event, 1, 20_000) == 0 { return found.map { "\($0.pid) \($0.command)" } }
      }
    }
  }

  static func kill(mark: String) {
    for (pid, _) in find(mark: mark) { Glibc.kill(pid, SIGKILL) }
  }

  /// Files of proc(5) have no size, so they are read to their end.
  private static func contents(_ path: String) -> Data? {
    guard let handle = FileHandle(forReadingAtPath: path) else { return nil }
    defer { try? handle.close() }
    return try? handle.readToEnd()
  }
}
