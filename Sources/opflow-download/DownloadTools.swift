internal import OpflowWire

extension ActiveDownload {
  /// Shared by all downloads of the worker.
  struct Tools {
    let transfer: Transfer
    let settler: Settler
    let buffer: SpareBuffer
    let bootID: String
    /// The default permission bits.
    let standardMode: UInt32
    let patience: Patience
    let lastSuccess: (String) -> FetchReport?
  }

  /// Nanoseconds for which the server may be silent.
  struct Patience {
    var beforeAnswer: Int64 = 60_000_000_000
    var betweenBytes: Int64 = 20_000_000_000
  }
}
