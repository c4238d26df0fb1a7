internal import OpflowBase
internal import OpflowDownload
internal import OpflowSystem

enum LocalFile {
  /// Stands for a server's response; nil for other addresses.
  static func head(_ address: WebAddress) throws(DownloadFailure) -> ResponseHead? {
    guard let path = address.filePath else { return nil }
    // NUL would end the path.
    if path.utf8.contains(0) {
      throw DownloadFailure(.request, "the path of a file cannot hold a NUL character")
    }
    let status: FileStatus
    do throws(Errno) {
      status = try Path.status(path)
    } catch {
      throw DownloadFailure(.request, "\(path) cannot be read: \(error)")
    }
    if status.kind != .file {
      throw DownloadFailure(
        .request, "\(path) cannot be read: it is \(Place.name(status.kind)), and no file")
    }
    var head = ResponseHead(status: 200)
    head.contentLength = status.sizeBytes
    return head
  }
}
