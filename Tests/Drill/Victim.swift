import CTestSupport
import Foundation
import Glibc

/// The program under test while it runs, leader of a process group of its own.
final class Victim {
  let pid: pid_t
  private let exitDescriptor: Int32
  private var reaped: Int32?

  /// - Parameters:
  ///   - output: the name of the file in the folder that has what it prints.
  ///   - environment: variables that it has besides, as `NAME=VALUE`.
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
    // A shell has what it runs in the background ignore SIGINT, and the tests may be that.
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
    // What a program built with a sanitizer is told counts for it, too.
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

  /// Its exit code, or its signal as a negative number; nil when it lives longer than that.
  func end(withinMilliseconds limit: Int) -> Int32? {
    if let reaped { return reaped }
    var event = pollfd(fd: exitDescriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&event, 1, Int32(limit)) > 0 else { return nil }
    reaped = ctest_reap(pid)
    return reaped
  }
}

/// A process that bears the drill's mark (proc(5), environ).
struct MarkedProcess {
  var pid: pid_t
  var isWorker: Bool
  var isTask: Bool
  /// The program that it runs, as it was called.
  var program: Substring
  var command: String

  /// - Parameter folder: with those that are in that folder, since a program may write over its
  ///   environment.
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

  /// Files of proc(5) have no size, so they are read to their end.
  private static func contents(_ path: String) -> String? {
    guard let handle = FileHandle(forReadingAtPath: path) else { return nil }
    defer { try? handle.close() }
    return (try? handle.readToEnd()).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Waits until none is left; returns those that are there when the time is over.
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

/// A promise that did not hold, or something that the drill itself could not do.
package struct DrillFinding: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}
