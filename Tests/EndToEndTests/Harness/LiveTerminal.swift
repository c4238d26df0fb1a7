import CTestSupport
import Foundation
import Glibc
import Screen

/// A program at a terminal of its own, and what a person sees there.
final class LiveTerminal {
  let pid: pid_t
  private let terminal: Int32
  private var isOpen = true
  private(set) var screen: Screen
  /// All that came, as it came.
  private(set) var bytes: [UInt8] = []
  /// The beginning of a character that has not come whole.
  private var pending: [UInt8] = []
  private var status: Int32?

  init(_ launch: Launch, columns: Int, rows: Int) throws {
    var path = [CChar](repeating: 0, count: 128)
    terminal = ctest_open_terminal(Int32(columns), Int32(rows), &path, path.count)
    guard terminal >= 0 else { throw HarnessFailure.errno("opening a terminal", -terminal) }
    screen = Screen(columns: columns, rows: rows)
    let end = path.firstIndex(of: 0) ?? path.count
    pid = try launch.start(
      atTerminal: String(decoding: path[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self))
  }

  deinit {
    if status == nil {
      Glibc.kill(pid, SIGKILL)
      waitpid(pid, nil, 0)
    }
    close(terminal)
  }

  func type(_ text: String) throws {
    let bytes = [UInt8](text.utf8)
    guard write(terminal, bytes, bytes.count) == bytes.count else {
      throw HarnessFailure.errno("typing")
    }
  }

  /// Whether lines are gathered and echoed, as a shell leaves it to its commands.
  var isCooked: Bool {
    var modes = termios()
    let cooked = tcflag_t(ICANON | ECHO)
    return tcgetattr(terminal, &modes) == 0 && modes.c_lflag & cooked == cooked
  }

  func resize(columns: Int, rows: Int) throws {
    screen.resize(columns: columns, rows: rows)
    let failure = ctest_resize_terminal(terminal, Int32(columns), Int32(rows))
    guard failure == 0 else { throw HarnessFailure.errno("resizing", -failure) }
  }

  func proceed() { Glibc.kill(pid, SIGCONT) }

  /// Reads until the terminal shows the expected text.
  func wait(until done: (Screen) -> Bool) throws {
    try pump { done(screen) }
  }

  /// Waits until the program has stopped itself.
  func waitUntilStopped() throws {
    try pump {
      var state: Int32 = 0
      return waitpid(pid, &state, WNOHANG | WUNTRACED) == pid && state & 0xFF == 0x7F
    }
  }

  /// The exit code, or the signal that ended it as a negative number.
  func finish() throws -> Int32 {
    try pump {
      let found = ctest_reap(pid)
      if found > -1000 { status = found }
      return status != nil && !isOpen
    }
    return status ?? -1000
  }

  private func pump(until done: () -> Bool) throws {
    let began = ProcessInfo.processInfo.systemUptime
    while !done() {
      // Stops and ends of a child have no descriptor to wait for, hence the short waits.
      var event = pollfd(fd: isOpen ? terminal : -1, events: Int16(POLLIN), revents: 0)
      if poll(&event, 1, 20) > 0 { readOnce() }
      let waited = ProcessInfo.processInfo.systemUptime - began
      guard waited * 1000 < Double(LiveProcess.hangLimitMilliseconds) else {
        throw HarnessFailure(
          "waited in vain; the terminal shows\n\(screen.text.joined(separator: "\n"))")
      }
    }
  }

  private func readOnce() {
    var chunk = [UInt8](repeating: 0, count: 65_536)
    let count = read(terminal, &chunk, chunk.count)
    guard count > 0 else {
      // The last program that had the other side open has ended.
      isOpen = false
      return
    }
    bytes += chunk[..<count]
    pending += chunk[..<count]
    // A character is cut at most behind its third byte.
    let tail = pending.suffix(3).lastIndex { $0 >= 0xC0 }
    let isCut = tail.map { pending.count - $0 < Self.length(pending[$0]) } ?? false
    let whole = isCut ? (tail ?? pending.count) : pending.count
    screen.write(pending[..<whole])
    pending.removeFirst(whole)
  }

  private static func length(_ first: UInt8) -> Int {
    first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
  }
}
