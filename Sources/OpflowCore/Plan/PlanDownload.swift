/// What a `download` task fetches, as a plan holds it.
package struct DownloadEntry: Hashable, Sendable, BitwiseCopyable {
  /// Absolute.
  package var target: TextRef
  /// Lower-case hexadecimal, or empty.
  package var sha256: TextRef = .empty
  package var sha512: TextRef = .empty
  /// The `url`, then the mirrors: a list of texts, never the empty one.
  package var sources: ListIndex
  /// Names and values: a list of an environment's kind.
  package var headers: UInt32 = 0
  /// `DownloadEntry.none` where it is not given.
  package var sizeBytes: UInt64 = DownloadEntry.none
  /// 0 for no limit.
  package var maxBytesPerSecond: UInt64 = 0
  /// Permission bits; `UInt32.max` where they are not given.
  package var mode: UInt32 = .max
  /// 1 when a part that stands may be continued.
  package var resumes: UInt32 = 1

  package static let none = UInt64.max

  package init(target: TextRef, sources: ListIndex) {
    self.target = target
    self.sources = sources
  }
}

extension Plan {
  /// What a task of the kind `download` fetches.
  package func download(_ task: TaskID) -> DownloadSpec {
    let entry = downloads[Int(record[task.index].download)]
    var spec = DownloadSpec(
      sources: list(entry.sources).map { string($0) }, target: string(entry.target))
    spec.sha256 = string(entry.sha256)
    spec.sha512 = string(entry.sha512)
    if entry.sizeBytes != DownloadEntry.none { spec.sizeBytes = Int64(clamping: entry.sizeBytes) }
    spec.headers = variables(entry.headers).map {
      DownloadHeader(name: string($0.name), value: string($0.value))
    }
    if entry.mode != .max { spec.mode = entry.mode }
    spec.resumes = entry.resumes != 0
    spec.maxBytesPerSecond = Int64(clamping: entry.maxBytesPerSecond)
    return spec
  }

  /// The file that a `download` task makes.
  package func downloadTarget(_ task: TaskID) -> UnsafeRawBufferPointer {
    text(downloads[Int(record[task.index].download)].target)
  }
}
