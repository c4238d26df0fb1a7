internal import CLinux
internal import Glibc

extension Descriptor {
  /// Removes an entry of the open folder, whatever it is, with all that is in it: of any depth, and with
  /// any permissions that can be changed. A link is removed and never followed, and what is mounted in it
  /// is not entered. Nothing there is a success.
  ///
  /// - Parameter name: one component.
  /// - Throws: why something could not be removed, the rest being gone; `invalidArgument` for a name that
  ///   is none.
  package borrowing func removeTree(_ name: String) throws(Errno) {
    let folder = rawValue
    try call { clinux_remove_tree(folder, name) }
  }

  /// How many bytes removing a folder in this one would free: what has a further name elsewhere is not
  /// counted. 0 where it cannot be looked at.
  package borrowing func treeBytes(_ name: String) -> Int64 {
    clinux_tree_bytes(rawValue, name)
  }

  /// Gives an entry of the open folder another name in it.
  ///
  /// - Parameters:
  ///   - name: one component, as `new` is.
  package borrowing func rename(_ name: String, to new: String) throws(Errno) {
    let folder = rawValue
    try call { renameat(folder, name, folder, new) }
  }

  /// The names in the open folder, in no order.
  package borrowing func names() throws(Errno) -> [String] {
    try Path.names(in: "/proc/self/fd/\(rawValue)")
  }

  /// Removes all that is in the open folder, and keeps the folder.
  ///
  /// - Throws: why something could not be removed, the rest being gone.
  package borrowing func removeContents() throws(Errno) {
    let folder = rawValue
    try call { clinux_empty_folder(folder) }
  }
}

extension Path {
  /// Removes an entry of the folder at a path, as `Descriptor.removeTree` does. Without the folder there is
  /// nothing in it; where a link stands in its place, nothing is removed.
  package static func removeTree(_ name: String, in folder: String) throws(Errno) {
    do throws(Errno) {
      try File.open(folder, [.readOnly, .directory, .noFollow]).removeTree(name)
    } catch .noSuchFile {
      return
    }
  }
}
