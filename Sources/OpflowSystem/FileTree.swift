internal import CLinux
internal import Glibc

extension Descriptor {
  /// Removes an entry, one path component, with everything in it; changes permissions where needed.
  /// Does not follow links or enter mounts. Throws the first error; the rest is removed.
  package borrowing func removeTree(_ name: String) throws(Errno) {
    let folder = rawValue
    try call { clinux_remove_tree(folder, name) }
  }

  /// The bytes that a removal would free: files with links elsewhere do not count. 0 if unreadable.
  package borrowing func treeBytes(_ name: String) -> Int64 {
    clinux_tree_bytes(rawValue, name)
  }

  /// Both names are one component.
  package borrowing func rename(_ name: String, to new: String) throws(Errno) {
    let folder = rawValue
    try call { renameat(folder, name, folder, new) }
  }

  package borrowing func names() throws(Errno) -> [String] {
    try Path.names(in: "/proc/self/fd/\(rawValue)")
  }

  /// Throws the first error; the rest is removed.
  package borrowing func removeContents() throws(Errno) {
    let folder = rawValue
    try call { clinux_empty_folder(folder) }
  }
}

extension Path {
  /// Does nothing if `folder` is missing; fails if it is a link.
  package static func removeTree(_ name: String, in folder: String) throws(Errno) {
    do throws(Errno) {
      try File.open(folder, [.readOnly, .directory, .noFollow]).removeTree(name)
    } catch .noSuchFile {
      return
    }
  }
}
