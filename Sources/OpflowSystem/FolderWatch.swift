internal import CLinux

/// Tells that something in folders has changed (inotify(7)). Not every file system tells it, those of
/// other machines for example, so nobody may rely on it alone.
package struct FolderWatch: ~Copyable {
  private let descriptor: Descriptor
  private var poll = PollSet(slots: 1)

  package init(_ folders: [String]) throws(Errno) {
    let descriptor = Descriptor(owning: try call { clinux_watch_create() })
    let watch = descriptor.rawValue
    for folder in folders { try call { clinux_watch_folder(watch, folder) } }
    self.init(descriptor)
  }

  /// Watches one file of a folder, and what comes into the folder: what is written into others is nobody's concern.
  ///
  /// A file that takes that one's place is not watched.
  package init(file: String, in folder: String) throws(Errno) {
    let descriptor = try Descriptor(owning: try call { clinux_watch_create() }).aboveStandard()
    let watch = descriptor.rawValue
    try call { clinux_watch_names(watch, folder) }
    try call { clinux_watch_file(watch, file) }
    self.init(descriptor)
  }

  private init(_ descriptor: consuming Descriptor) {
    poll.set(0, descriptor.rawValue)
    self.descriptor = descriptor
  }

  /// Returns at the next change, at once when there was one since the last call, and when the time
  /// has passed.
  package mutating func wait(nanoseconds: Int64) throws(Errno) {
    if try poll.wait(nanoseconds: nanoseconds) { try takeChanges() }
  }

  /// Readable when something has changed since `takeChanges`, for who waits for other things too.
  package var rawDescriptor: Int32 { descriptor.rawValue }

  /// Takes note of all that has changed so far. What it was is of no interest: those who wait look at
  /// everything.
  package func takeChanges() throws(Errno) {
    var changes = [UInt8](repeating: 0, count: 4096)
    do throws(Errno) {
      while true {
        let count = try changes.withUnsafeMutableBufferPointer { room throws(Errno) -> Int in
          try descriptor.read(into: UnsafeMutableRawBufferPointer(room))
        }
        if count == 0 { return }
      }
    } catch .wouldBlock {
      return
    }
  }
}
