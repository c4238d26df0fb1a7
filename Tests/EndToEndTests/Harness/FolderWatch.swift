import CTestSupport
import Glibc

/// Tells when something in a folder was made or written (inotify(7)).
final class FolderWatch {
  private let descriptor: Int32

  init(_ folder: String) throws {
    descriptor = ctest_watch_folder(folder)
    guard descriptor >= 0 else { throw HarnessFailure.errno("watching \(folder)", -descriptor) }
  }

  deinit { close(descriptor) }

  /// Returns at the next change, or at once when there was one since the last call.
  func wait() throws {
    var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&event, 1, Int32(LiveProcess.hangLimitMilliseconds)) > 0 else {
      throw HarnessFailure("nothing changed in the folder")
    }
    var changes = [UInt8](repeating: 0, count: 4096)
    guard read(descriptor, &changes, changes.count) > 0 else { throw HarnessFailure.errno("read") }
  }
}
