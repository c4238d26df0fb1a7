import CTestSupport
import Foundation
import Glibc

/// The running program under test, leader of its own process group.
final class Victim {
  let pid: pid_t
  private let exitDescriptor: Int32
  private var reaped: Int32?

  /// - Parameters:
  ///   - output: the name of the output file in the folder.
  ///   - environment: additional variables as `NAME=VALUE`.
  init(
    _ program: String, _ arguments: [String], folder: String, mark: String,
    output: String = "last.out", environment: [String] = []
  ) throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    ctest_spawn_in_folder(&actions, folder)
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(
      &actions, 1, "\(folder)/\(output)", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawnattr_setpgroup(&attributes, 0)
    // Shells make background processes ignore SIGINT, and the tests may be one.
    var signals = sigset_t()
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    posix_spawnattr_setflags(
      &attributes,
      Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    let words = [program] + arguments
    // Sanitizer options apply to the program, too.
    let sanitizer = ProcessInfo.processInfo.environment["ASAN_OPTIONS"].map { "ASAN_OPTIONS=\($0)" }
    let variables =
      ["PATH=\(path)", "OPFLOW_DRILL=\(mark)"] + [sanitizer].compactMap { $0 } + environment
    var argv: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    var envp: [UnsafeMutablePointer<CChar>?] = variables.map { strdup($0) } + [nil]
    defer { for pointer in argv + envp { free(pointer) } }
    var pid: pid_t = 0
    let failure = posix_spawn(&pid, program, &actions, &attributes, &argv, &envp)
    guard failure == 0 else {
      throw DrillFinding("\(program): \(String(cString: strerror(failure)))")
    }
    self.pid = pid
    exitDescriptor = ctest_pidfd_open(pid)
  }

  deinit {
    if reaped == nil {
      kill(pid, SIGKILL)
      _ = end(withinMilliseconds: -1)
    }
    close(exitDescriptor)
  }

  /// Returns the exit code, or a negative signal number; nil if it outlives the limit.
  func end(withinMilliseconds limit: Int) -> Int32? {
    if let reaped { return reaped }
    var event = pollfd(fd: exitDescriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&event, 1, Int32(limit)) > 0 else { return nil }
    reaped = ctest_reap(pid)
    return reaped
  }
}

/// A process with the drill's mark in its environment (proc(5), environ).
struct MarkedProcess {
  var pid: pid_t
  var isWorker: Bool
  var isTask: Bool
  /// The name by which its program was called.
  var program: Substring
  var command: String

  /// - Parameter folder: also finds processes in this folder, since programs may overwrite their
  /// environment.
  static func all(mark: String, in folder: String? = nil) -> [MarkedProcess] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { pid_t($0) }.compactMap { pid in
      guard let environment = contents("/proc/\(pid)/environ"),
        environment.contains("OPFLOW_DRILL=\(mark)\0")
          || folder.map({ isProcess(pid, in: $0) }) == true
      else { return nil }
      let command = contents("/proc/\(pid)/cmdline") ?? ""
      return MarkedProcess(
        pid: pid, isWorker: command.contains("\0worker\0"),
        isTask: environment.contains("\0OPFLOW_TASK=") || environment.hasPrefix("OPFLOW_TASK="),
        program: command.prefix { $0 != "\0" }, command: command.replacing("\0", with: " "))
    }
  }

  private static func isProcess(_ pid: pid_t, in folder: String) -> Bool {
    let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/cwd")
    return path.map { $0 == folder || $0.hasPrefix(folder + "/") } ?? false
  }

  /// Reads a file of proc(5) to its end, since it has no size.
  private static func contents(_ path: String) -> String? {
    guard let handle = FileHandle(forReadingAtPath: path) else { return nil }
    defer { try? handle.close() }
    return (try? handle.readToEnd()).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Waits until no process is left; returns those that are left after the time limit.
  static func waitForNone(
    mark: String, in folder: String? = nil, milliseconds: Int
  ) -> [MarkedProcess] {
    let deadline = ContinuousClock.now + .milliseconds(milliseconds)
    while true {
      let left = all(mark: mark, in: folder)
      guard let first = left.first, ContinuousClock.now < deadline else { return left }
      let descriptor = ctest_pidfd_open(first.pid)
      guard descriptor >= 0 else { continue }
      var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      _ = poll(&event, 1, 200)
      close(descriptor)
    }
  }
}

/// A violated promise, or a failure of the drill itself.
package struct DrillFinding: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}
