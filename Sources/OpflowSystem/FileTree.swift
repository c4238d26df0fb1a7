internal import CLinux
internal import Glibc

extension Descriptor {
  /// Removes an entry of this open folder with everything in it, at any depth, changing permissions
  /// where needed. Does not follow links or enter mounts. A missing entry is not an error.
  ///
  /// - Parameter name: one path component, or `invalid` is thrown.
  /// - Throws: the first error; the rest is removed.
  package borrowing func removeTree(_ name: String) throws(Errno) {
    let folder = rawValue
    try call { clinux_remove_tree(folder, name) }
  }

  /// The number of bytes that removing a folder in this one would free; files with links elsewhere
  /// do not count. 0 if it cannot be read.
  package borrowing func treeBytes(_ name: String) -> Int64 {
    clinux_tree_bytes(rawValue, name)
  }

  /// Renames an entry of the open folder; `name` and `new` are one component each.
  package borrowing func rename(_ name: String, to new: String) throws(Errno) {
    let folder = rawValue
    try call { renameat(folder, name, folder, new) }
  }

  /// The names in the open folder, unsorted.
  package borrowing func names() throws(Errno) -> [String] {
    try Path.names(in: "/proc/self/fd/\(rawValue)")
  }

  /// Empties the open folder. Throws the first error; the rest is removed.
  package borrowing func removeContents() throws(Errno) {
    let folder = rawValue
    try call { clinux_empty_folder(folder) }
  }
}

extension Path {
  /// Removes an entry of `folder` like `Descriptor.removeTree`. Does nothing if `folder` is
  /// missing; fails if it is a link.
  package static func removeTree(_ name: String, in folder: String) throws(Errno) {
    do throws(Errno) {
      try File.open(folder, [.readOnly, .directory, .noFollow]).removeTree(name)
    } catch .noSuchFile {
      return
    }
  }
}
