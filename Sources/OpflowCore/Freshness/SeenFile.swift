/// By what a file that was not touched since is known again, without a look at its contents, as git's
/// index does.
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

  /// Whether nobody wrote the file in between, as far as that shows. Its time of change does not count, which
  /// is another one as soon as somebody links it.
  package func isOfSameWriting(as other: FileStamp) -> Bool {
    device == other.device && inode == other.inode && sizeBytes == other.sizeBytes
      && modified == other.modified
  }

  /// What the clock of a file system may lag behind: one that counts in nanoseconds goes in steps of the
  /// kernel's timer, of at most 10 ms.
  private static let fineNanoseconds: Int64 = 20_000_000
  /// Others count in seconds, or in two.
  private static let coarseNanoseconds: Int64 = 2_100_000_000

  /// Whether a change after `now` would show: what was changed in the same step of the clock need not
  /// (Documentation/technical/racy-git.txt of git). A time that is still to come is never trusted.
  package func isTelling(atNanoseconds now: Int64) -> Bool {
    let isCoarse = modified % 1_000_000_000 == 0 || changed % 1_000_000_000 == 0
    let margin = isCoarse ? Self.coarseNanoseconds : Self.fineNanoseconds
    return max(modified, changed) < now - margin
  }
}

/// A file as it was seen: what of it counts, and how it is known again.
package struct SeenFile: Equatable, Sendable {
  package enum Kind: UInt8, Sendable {
    case file = 102  // f
    case executable = 120  // x
    case folder = 100  // d
    /// Among inputs the links on the way to something, which counts for itself: their texts. An output counts as
    /// its text alone.
    case link = 108  // l
    /// Nothing, where a link leads. An output is a link that leads there, by its text.
    case absent = 97  // a
    /// A device, a socket: it is never opened.
    case other = 111  // o
  }

  /// As seen from the task's folder, or from the root; bytes that a name may have.
  package var path: [UInt8]
  package var kind: Kind
  /// Of its contents; of a link: of its text, and those of further links that it leads through.
  package var content: PlanKey
  /// Nil where it could have been changed since without a trace.
  package var stamp: FileStamp?

  package init(path: [UInt8], kind: Kind, content: PlanKey, stamp: FileStamp?) {
    self.path = path
    self.kind = kind
    self.content = content
    self.stamp = stamp
  }

  /// Whether the two are the same to a task.
  package func isSame(as other: SeenFile) -> Bool {
    kind == other.kind && content == other.content
  }
}
