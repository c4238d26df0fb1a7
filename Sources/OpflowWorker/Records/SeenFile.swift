package import OpflowBase

/// Identifies an unmodified file without reading it, as in git's index.
package struct FileStamp: Equatable, Sendable {
  package var device: UInt64
  package var inode: UInt64
  package var sizeBytes: Int64
  /// Since the epoch, in nanoseconds.
  package var modified: Int64
  package var changed: Int64

  package init(device: UInt64, inode: UInt64, sizeBytes: Int64, modified: Int64, changed: Int64) {
    self.device = device
    self.inode = inode
    self.sizeBytes = sizeBytes
    self.modified = modified
    self.changed = changed
  }

  /// It seems unwritten since. Ignores the change time, which a new hard link changes.
  package func isOfSameWriting(as other: FileStamp) -> Bool {
    device == other.device && inode == other.inode && sizeBytes == other.sizeBytes
      && modified == other.modified
  }

  /// Clocks with nanoseconds advance with the kernel's timer, by at most 10 ms.
  private static let fineNanoseconds: Int64 = 20_000_000
  /// Other clocks count in seconds, or in two.
  private static let coarseNanoseconds: Int64 = 2_100_000_000

  /// A later change must show. One in the same clock step may not
  /// (Documentation/technical/racy-git.txt of git). A time in the future is never trusted.
  package func isTelling(atNanoseconds now: Int64) -> Bool {
    let isCoarse = modified % 1_000_000_000 == 0 || changed % 1_000_000_000 == 0
    let margin = isCoarse ? Self.coarseNanoseconds : Self.fineNanoseconds
    return max(modified, changed) < now - margin
  }
}

package struct SeenFile: Equatable, Sendable {
  package enum Kind: UInt8, Sendable {
    case file = 102  // f
    case executable = 120  // x
    case folder = 100  // d
    /// Hashed by its text. Among inputs: a link on the way to one.
    case link = 108  // l
    /// The target of a dangling link. An output that is such a link, hashed by its text.
    case absent = 97  // a
    /// A device or socket, never opened.
    case other = 111  // o
  }

  /// Relative to the task's folder, or absolute.
  package var path: [UInt8]
  package var kind: Kind
  /// Of a link: of its text and of the links behind it.
  package var content: PlanKey
  /// Nil if a change may leave no trace.
  package var stamp: FileStamp?

  package init(path: [UInt8], kind: Kind, content: PlanKey, stamp: FileStamp?) {
    self.path = path
    self.kind = kind
    self.content = content
    self.stamp = stamp
  }

  package func isSame(as other: SeenFile) -> Bool {
    kind == other.kind && content == other.content
  }
}
