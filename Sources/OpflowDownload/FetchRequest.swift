package import OpflowCore

/// One request, as the machine wants it sent.
package struct FetchRequest: Equatable, Sendable {
  package var address: WebAddress
  package var headers: [DownloadHeader] = []
  /// The first byte that is wanted; nil for the whole.
  package var rangeFrom: Int64?
  /// What stands in the part is worth nothing: empty it first.
  package var dropsPart = false

  package init(address: WebAddress) { self.address = address }
}
