internal import CLinux

/// Reports changes in folders (inotify(7)). Callers must also poll: changes by other machines, on
/// NFS for example, are not reported.
package struct FolderWatch: ~Copyable {
  private let descriptor: Descriptor
  private var poll = PollSet(slots: 1)

  package init(_ folders: [String]) throws(Errno) {
    let descriptor = Descriptor(owning: try call { clinux_watch_create() })
    let watch = descriptor.rawValue
    for folder in folders { try call { clinux_watch_folder(watch, folder) } }
    self.init(descriptor)
  }

  /// Watches one file and new entries of its folder, not a file that replaces it.
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

  /// Returns at a change since the last call, or after `nanoseconds`.
  package mutating func wait(nanoseconds: Int64) throws(Errno) {
    if try poll.wait(nanoseconds: nanoseconds) { try takeChanges() }
  }

  /// Readable at a change since `takeChanges`.
  package var rawDescriptor: Int32 { descriptor.rawValue }

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
