internal import OpflowBase

/// A session's cache, as workers read it from a file in the run's folder.
package enum CacheSetting: Equatable, Sendable {
  case own(limitBytes: Int64)
  /// By several state folders.
  case shared(path: String, mayWrite: Bool, limitBytes: Int64)

  package static let fileName = "cache"
  /// Where a run assembles cached results. A crash leaves files there.
  package static let stageName = "stage"
  package static let standardLimitBytes: Int64 = 10 << 30

  /// Enough for a path of 4,096 bytes (PATH_MAX).
  package static let longestBytes = 8_192

  /// Without the file there is no cache.
  package var file: [UInt8] {
    switch self {
    case .own(let limit): Array("own\t\(limit)\n".utf8)
    case .shared(let path, let mayWrite, let limit):
      Array("\(mayWrite ? "write" : "read")\t\(limit)\t\(path)".utf8)
    }
  }

  package init?(file: [UInt8]) {
    let fields = file.split(separator: Field.tab, maxSplits: 2, omittingEmptySubsequences: false)
    guard fields.count >= 2 else { return nil }
    let number = fields[1].prefix { $0 != Field.lineFeed }
    guard let limit = Field.number(number, as: Int64.self), limit >= 0 else { return nil }
    switch String(decoding: fields[0], as: UTF8.self) {
    case "own" where fields.count == 2: self = .own(limitBytes: limit)
    case "read" where fields.count == 3:
      self = .shared(
        path: String(decoding: fields[2], as: UTF8.self), mayWrite: false, limitBytes: limit)
    case "write" where fields.count == 3:
      self = .shared(
        path: String(decoding: fields[2], as: UTF8.self), mayWrite: true, limitBytes: limit)
    default: return nil
    }
  }
}
