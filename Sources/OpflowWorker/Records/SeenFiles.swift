package import OpflowBase

/// The states of possibly millions of files, in columns.
package struct SeenStates: Equatable, Sendable {
  fileprivate var kinds: [SeenFile.Kind] = []
  fileprivate var contents: [PlanKey] = []
  fileprivate var stamps: [FileStamp] = []

  private static let noStamp = FileStamp(
    device: .max, inode: .max, sizeBytes: -1, modified: .min, changed: .min)

  package init() {}

  package init(_ count: Int, of other: SeenFiles) {
    kinds = Array(other.states.kinds[..<count])
    contents = Array(other.states.contents[..<count])
    stamps = Array(other.states.stamps[..<count])
  }

  package mutating func reserve(_ count: Int) {
    kinds.reserveCapacity(count)
    contents.reserveCapacity(count)
    stamps.reserveCapacity(count)
  }

  package mutating func append(_ kind: SeenFile.Kind, _ content: PlanKey, _ stamp: FileStamp?) {
    kinds.append(kind)
    contents.append(content)
    stamps.append(stamp ?? Self.noStamp)
  }

  package var count: Int { kinds.count }

  fileprivate func stamp(_ place: Int) -> FileStamp? {
    let stamp = stamps[place]
    return stamp == Self.noStamp ? nil : stamp
  }
}

package struct SeenFiles: Equatable, Sendable {
  private var paths = ByteStrings()
  fileprivate var states = SeenStates()

  package init() {}

  package init(_ files: some Sequence<SeenFile>) {
    for file in files { append(file) }
  }

  /// `paths` are sorted, with one state each.
  package init(_ paths: ByteStrings, _ states: SeenStates) {
    precondition(paths.count == states.count)
    self.paths = paths
    self.states = states
  }

  package init(_ count: Int, of other: SeenFiles) {
    paths.append(count, of: other.paths)
    states = SeenStates(count, of: other)
  }

  mutating func reserve(count: Int, pathBytes: Int) {
    paths.reserve(count: count, bytes: pathBytes)
    states.reserve(count)
  }

  mutating func append(
    path: UnsafeRawBufferPointer, _ kind: SeenFile.Kind, _ content: PlanKey, _ stamp: FileStamp?
  ) {
    paths.append(path)
    states.append(kind, content, stamp)
  }

  private mutating func append(_ file: SeenFile) {
    file.path.withUnsafeBytes { append(path: $0, file.kind, file.content, file.stamp) }
  }

  @inline(__always)
  package func withPath<Result>(
    _ place: Int, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result { paths.with(place, body) }

  /// Searches all paths at once first.
  func namesSecret(_ masker: Masker) -> Bool {
    paths.withAll { masker.finds($0) } && indices.contains { withPath($0) { masker.finds($0) } }
  }

  package func path(_ place: Int) -> [UInt8] { paths[place] }
  package func kind(_ place: Int) -> SeenFile.Kind { states.kinds[place] }
  package func content(_ place: Int) -> PlanKey { states.contents[place] }
  package func stamp(_ place: Int) -> FileStamp? { states.stamp(place) }

  /// `other` is later: a dangling link may have a target by now.
  func isSame(_ place: Int, as other: SeenFiles, _ otherPlace: Int) -> Bool {
    let (old, new) = (kind(place), other.kind(otherPlace))
    return (old == new || old == .absent && new == .link)
      && content(place) == other.content(otherPlace)
  }

  /// True if the file was visibly replaced or written since. The content read in between may differ
  /// from the present content.
  package func isReplaced(_ place: Int, by now: FileStamp) -> Bool {
    stamp(place).map { !now.isOfSameWriting(as: $0) } ?? false
  }

  func order(_ place: Int, _ other: SeenFiles, _ otherPlace: Int) -> ByteOrder {
    withPath(place) { path in
      other.withPath(otherPlace) { ByteOrder(path, $0) }
    }
  }
}

extension SeenFiles: RandomAccessCollection {
  package var startIndex: Int { 0 }
  package var endIndex: Int { states.count }

  package subscript(place: Int) -> SeenFile {
    SeenFile(path: path(place), kind: kind(place), content: content(place), stamp: stamp(place))
  }
}

extension SeenFiles: ExpressibleByArrayLiteral {
  package init(arrayLiteral files: SeenFile...) { self.init(files) }
}

/// Identifies an unmodified file without reading it, as in git's index.
package struct FileStamp: Equatable, Sendable {
  package var device: UInt64
  package var inode: UInt64
  package var sizeBytes: Int64
  /// Nanoseconds since the epoch.
  package var modified: Int64
  package var changed: Int64

  package init(device: UInt64, inode: UInt64, sizeBytes: Int64, modified: Int64, changed: Int64) {
    self.device = device
    self.inode = inode
    self.sizeBytes = sizeBytes
    self.modified = modified
    self.changed = changed
  }

  /// Ignores the change time, which a new hard link changes.
  package func isOfSameWriting(as other: FileStamp) -> Bool {
    device == other.device && inode == other.inode && sizeBytes == other.sizeBytes
      && modified == other.modified
  }

  /// Clocks with nanoseconds advance with the kernel's timer, by at most 10 ms.
  private static let fineNanoseconds: Int64 = 20_000_000
  /// Other clocks count in seconds, or in two.
  private static let coarseNanoseconds: Int64 = 2_100_000_000

  /// True if a later change will show. A change in the same clock step may not
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
    /// Hashed by its text. Among inputs: a link on the way to an input.
    case link = 108  // l
    /// The target of a dangling link; among outputs the link, hashed by its text.
    case absent = 97  // a
    /// A device or socket, never opened.
    case other = 111  // o
  }

  /// Relative to the task's folder, or absolute.
  package var path: [UInt8]
  package var kind: Kind
  /// For a link: of its text and of the links behind it.
  package var content: PlanKey
  /// nil if a change may leave no trace.
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
