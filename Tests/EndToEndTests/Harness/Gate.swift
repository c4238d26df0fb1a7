import Foundation
import Glibc

/// A FIFO between a test and its tasks. A task says something with `echo word > gate`, and waits
/// for a word with `read word < gate`; neither loses its turn, however late the other side comes,
/// since the test holds both ends open.
final class Gate {
  private let descriptor: Int32
  private var bytes: [UInt8] = []

  init(path: String) throws {
    guard mkfifo(path, 0o600) == 0 else { throw HarnessFailure.errno("mkfifo \(path)") }
    descriptor = open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { throw HarnessFailure.errno(path) }
  }

  deinit { close(descriptor) }

  /// The next line that a task writes.
  func next() throws -> String {
    while true {
      if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: bytes[..<end], as: UTF8.self)
        bytes.removeSubrange(...end)
        return line
      }
      var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&event, 1, Int32(LiveProcess.hangLimitMilliseconds)) > 0 else {
        throw HarnessFailure("no task wrote to the gate")
      }
      var chunk = [UInt8](repeating: 0, count: 4096)
      let count = read(descriptor, &chunk, chunk.count)
      guard count > 0 else { throw HarnessFailure.errno("read") }
      bytes.append(contentsOf: chunk[..<count])
    }
  }

  /// The next `count` lines, in the order they came.
  func next(_ count: Int) throws -> [String] {
    try (0..<count).map { _ in try next() }
  }

  /// Releases `count` waiting readers.
  func letGo(_ count: Int = 1) throws {
    let text = [UInt8](String(repeating: "go\n", count: count).utf8)
    guard write(descriptor, text, text.count) == text.count else {
      throw HarnessFailure.errno("write")
    }
  }
}
