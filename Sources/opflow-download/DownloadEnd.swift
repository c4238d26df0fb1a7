internal import OpflowDownload

enum DownloadEnd {
  case success
  case failure(DownloadDefeat)
}
