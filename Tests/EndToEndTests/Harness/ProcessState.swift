import Foundation
import Glibc

/// The state of a process (proc(5), stat).
enum ProcessState {
  /// `R`, `S`, `T` and so on; nil if the process does not exist.
  static func of(_ pid: pid_t) -> String? {
    guard let handle = FileHandle(forReadingAtPath: "/proc/\(pid)/stat") else { return nil }
    defer { try? handle.close() }
    guard let data = try? handle.readToEnd() else { return nil }
    let text = String(decoding: data, as: UTF8.self)
    return text.split(separator: ")").last?.split(separator: " ").first.map(String.init)
  }

  /// Waits until the process is in that state, of which nothing tells.
  static func wait(for state: String, of pid: pid_t) throws {
    let limit = ContinuousClock.now + .milliseconds(LiveProcess.hangLimitMilliseconds)
    while of(pid) != state {
      guard ContinuousClock.now < limit else {
        throw HarnessFailure("process \(pid) is in state \(of(pid) ?? "-"), not \(state)")
      }
      sched_yield()
    }
  }
}
