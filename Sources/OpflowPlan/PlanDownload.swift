package struct DownloadEntry: Hashable, Sendable, BitwiseCopyable {
  /// Absolute.
  package var target: TextRef
  /// Lower-case hexadecimal, or empty.
  package var sha256: TextRef = .empty
  package var sha512: TextRef = .empty
  /// The `url` and its mirrors; never the empty list.
  package var sources: ListIndex
  /// Into the lists of variables.
  package var headers: UInt32 = 0
  package var sizeBytes: UInt64 = DownloadEntry.none
  /// 0 for no limit.
  package var maxBytesPerSecond: UInt64 = 0
  /// Permission bits; `UInt32.max` if not set.
  package var mode: UInt32 = .max
  package var resumes: UInt32 = 1

  package static let none = UInt64.max

  package init(target: TextRef, sources: ListIndex) {
    self.target = target
    self.sources = sources
  }
}

extension Plan {
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

  package func downloadTarget(_ task: TaskID) -> UnsafeRawBufferPointer {
    text(downloads[Int(record[task.index].download)].target)
  }
}
