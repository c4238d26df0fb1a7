internal import OpflowCore

extension ActiveDownload {
  /// What the worker has for all its downloads.
  struct Tools {
    let transfer: Transfer
    let settler: Settler
    let buffer: SpareBuffer
    let bootID: String
    /// Permission bits of a file for which the manifest gives none.
    let standardMode: UInt32
    let patience: Patience
    /// The last success of a download from that URL.
    let lastSuccess: (String) -> FetchReport?
  }

  /// How long nothing may come.
  struct Patience {
    var beforeAnswer: Int64 = 60_000_000_000
    var betweenBytes: Int64 = 20_000_000_000
  }
}
