internal import OpflowCore

/// The value of `download` in JSON. It always has all keys, with null for unknown values.
struct DownloadJSON {
  /// Set while the download runs.
  var progress: DownloadProgress?
  /// The time at which `progress` is evaluated.
  var nowMilliseconds: Int64 = 0
  /// Set after a success.
  var report: FetchReport?
  /// The size of the partial file of an interrupted or failed download.
  var keptBytes: Int64?

  func write(target: UnsafeRawBufferPointer, into json: inout JSONWriter) {
    json.beginObject()
    json.key("to")
    json.string(target)
    json.key("done_bytes")
    json.optional(progress?.doneBytes ?? report?.sizeBytes ?? keptBytes)
    json.key("total_bytes")
    json.optional(progress?.totalBytes ?? report?.sizeBytes)
    json.key("resumed_bytes")
    json.optional(progress?.resumedBytes ?? report?.resumedBytes)
    json.key("bytes_per_second")
    json.optional(progress?.bytesPerSecond(at: nowMilliseconds))
    json.key("seconds_left")
    json.optional(progress?.secondsLeft(at: nowMilliseconds))
    json.key("kept")
    if let report { json.bool(report.isKept) } else { json.null() }
    json.key("sha256")
    json.optional(Self.known(report?.sha256))
    json.key("sha512")
    json.optional(Self.known(report?.sha512))
    json.key("url")
    json.optional(Self.known(report?.url))
    json.endObject()
  }

  private static func known(_ text: String?) -> String? { text?.isEmpty == true ? nil : text }
}
