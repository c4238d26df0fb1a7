import CTestSupport
import Foundation
import Glibc
import Testing

/// A running program and its output so far.
final class LiveProcess {
  /// Catches a hang, decides nothing: a test that is right never comes near it.
  static let hangLimitMilliseconds = 120_000

  let pid: pid_t
  private let exitDescriptor: Int32
  private var output: Stream
  private var errors: Stream
  private var status: Int32?

  private struct Stream {
    var descriptor: Int32
    var bytes: [UInt8] = []
    var isOpen = true

    mutating func readOnce() {
      let old = bytes.count
      bytes.append(contentsOf: repeatElement(0, count: 65_536))
      let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress! + old, 65_536) }
      bytes.removeLast(65_536 - max(count, 0))
      if count == 0 { isOpen = false }
    }
  }

  init(pid: pid_t, output: Int32, errors: Int32) throws {
    self.pid = pid
    self.output = Stream(descriptor: output)
    self.errors = Stream(descriptor: errors)
    exitDescriptor = ctest_pidfd_open(pid)
    guard exitDescriptor >= 0 else { throw HarnessFailure.errno("pidfd_open", -exitDescriptor) }
  }

  deinit {
    if status == nil {
      Glibc.kill(pid, SIGKILL)
      var event = pollfd(fd: exitDescriptor, events: Int16(POLLIN), revents: 0)
      poll(&event, 1, -1)
      _ = ctest_reap(pid)
    }
    close(exitDescriptor)
    close(output.descriptor)
    close(errors.descriptor)
  }

  var outputText: String { String(decoding: output.bytes, as: UTF8.self) }
  var errorText: String { String(decoding: errors.bytes, as: UTF8.self) }

  func send(_ signal: Int32) {
    Glibc.kill(pid, signal)
  }

  /// To the whole process group, as a terminal does on Ctrl-C.
  func sendToGroup(_ signal: Int32) {
    Glibc.kill(-pid, signal)
  }

  /// Reads until standard error holds `text`, so many times.
  func waitForError(_ text: String, times: Int = 1) throws {
    try pump(
      until: { self.errorText.components(separatedBy: text).count > times },
      for: "`\(text)` on standard error")
  }

  /// Reads until standard error has so many lines.
  ///
  /// - Returns: false when the process ended before.
  func waitForErrorLines(_ count: Int) throws -> Bool {
    var lines: Int { errors.bytes.count { $0 == 10 } }
    try pump(until: { lines >= count || !self.errors.isOpen }, for: "\(count) lines")
    return lines >= count
  }

  /// Reads until standard output holds `text`.
  func waitForOutput(_ text: String) throws {
    try pump(until: { self.outputText.contains(text) }, for: "`\(text)` on standard output")
  }

  /// Waits for the end of the process and of all that it wrote.
  ///
  /// A program whose child processes keep its standard output open after its end has an error,
  /// and runs into the hang limit.
  func finish() throws -> Finished {
    try pump(until: { self.status != nil }, for: "its end")
    return Finished(
      status: status ?? -1000, outputBytes: output.bytes, errorBytes: errors.bytes)
  }

  private func pump(until done: () -> Bool, for detail: String) throws {
    while !done() {
      guard status == nil else {
        throw HarnessFailure("it ended with \(status ?? 0) before \(detail)\n\(transcript)")
      }
      var events = [
        pollfd(fd: exitDescriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: output.isOpen ? output.descriptor : -1, events: Int16(POLLIN), revents: 0),
        pollfd(fd: errors.isOpen ? errors.descriptor : -1, events: Int16(POLLIN), revents: 0),
      ]
      let count = poll(&events, 3, Int32(Self.hangLimitMilliseconds))
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw HarnessFailure("waited in vain for \(detail)\n\(transcript)") }
      if events[1].revents != 0 { output.readOnce() }
      if events[2].revents != 0 { errors.readOnce() }
      // The end counts once both streams are read to theirs.
      if events[0].revents != 0 && !output.isOpen && !errors.isOpen { status = ctest_reap(pid) }
      if events[0].revents != 0 && (output.isOpen || errors.isOpen) { try drain() }
    }
  }

  /// The process has ended: what is left in the pipes is all there will be, unless a process that
  /// it left behind holds them.
  private func drain() throws {
    var events = [
      pollfd(fd: output.isOpen ? output.descriptor : -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: errors.isOpen ? errors.descriptor : -1, events: Int16(POLLIN), revents: 0),
    ]
    guard poll(&events, 2, Int32(Self.hangLimitMilliseconds)) > 0 else {
      throw HarnessFailure("it ended, and something it left behind holds its output\n\(transcript)")
    }
    if events[0].revents != 0 { output.readOnce() }
    if events[1].revents != 0 { errors.readOnce() }
  }

  private var transcript: String {
    "--- standard output\n\(outputText)\n--- standard error\n\(errorText)"
  }
}

/// A program that has ended.
struct Finished: CustomStringConvertible {
  /// The exit code, or the signal that ended it as a negative number.
  let status: Int32
  let outputBytes: [UInt8]
  let errorBytes: [UInt8]

  var output: String { String(decoding: outputBytes, as: UTF8.self) }
  var errors: String { String(decoding: errorBytes, as: UTF8.self) }
  var outputLines: [String] { Self.lines(output) }
  var errorLines: [String] { Self.lines(errors) }

  var description: String {
    "status \(status)\n--- standard output\n\(output)\n--- standard error\n\(errors)"
  }

  private static func lines(_ text: String) -> [String] {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if lines.last == "" { lines.removeLast() }
    return lines
  }
}
