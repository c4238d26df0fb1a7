internal import OpflowDownload

/// How a try ended.
enum DownloadEnd {
  case success
  case failure(DownloadDefeat)
}
