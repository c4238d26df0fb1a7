internal import OpflowCore

extension ActiveDownload {
  /// What all downloads of the worker share.
  struct Tools {
    let transfer: Transfer
    let settler: Settler
    let buffer: SpareBuffer
    let bootID: String
    /// The default permission bits of a file.
    let standardMode: UInt32
    let patience: Patience
    let lastSuccess: (String) -> FetchReport?
  }

  /// How long the server may be silent, in nanoseconds.
  struct Patience {
    var beforeAnswer: Int64 = 60_000_000_000
    var betweenBytes: Int64 = 20_000_000_000
  }
}
