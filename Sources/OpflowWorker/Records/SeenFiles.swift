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

  /// - Parameter paths: sorted, with one state each.
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
  ) -> Result {
    paths.with(place, body)
  }

  /// Searches all paths at once first.
  func namesSecret(_ masker: Masker) -> Bool {
    paths.withAll { masker.finds($0) } && indices.contains { withPath($0) { masker.finds($0) } }
  }

  package func path(_ place: Int) -> [UInt8] { paths[place] }
  package func kind(_ place: Int) -> SeenFile.Kind { states.kinds[place] }
  package func content(_ place: Int) -> PlanKey { states.contents[place] }
  package func stamp(_ place: Int) -> FileStamp? { states.stamp(place) }

  /// A dangling link may have a target by now.
  ///
  /// - Parameter other: seen later.
  func isSame(_ place: Int, as other: SeenFiles, _ otherPlace: Int) -> Bool {
    let (old, new) = (kind(place), other.kind(otherPlace))
    return (old == new || old == .absent && new == .link)
      && content(place) == other.content(otherPlace)
  }

  /// Visibly replaced or written since. What was read in between may differ from its present
  /// content.
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
    SeenFile(
      path: path(place), kind: kind(place), content: content(place), stamp: stamp(place))
  }
}

extension SeenFiles: ExpressibleByArrayLiteral {
  package init(arrayLiteral files: SeenFile...) { self.init(files) }
}
