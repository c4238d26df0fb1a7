internal import OpflowCore
internal import OpflowSystem

/// A file of this machine that is downloaded.
enum LocalFile {
  /// What a server would say of it; nil for any other address.
  static func head(_ address: WebAddress) throws(DownloadFailure) -> ResponseHead? {
    guard let path = address.filePath else { return nil }
    do throws(Errno) {
      let status = try Path.status(path)
      guard status.kind == .file else { throw .isADirectory }
      var head = ResponseHead(status: 200)
      head.contentLength = status.sizeBytes
      return head
    } catch {
      throw DownloadFailure(.request, "\(path) cannot be read: \(error)")
    }
  }
}
