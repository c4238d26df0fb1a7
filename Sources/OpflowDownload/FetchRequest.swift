package import OpflowBase
package import OpflowPlan

package struct FetchRequest: Equatable, Sendable {
  package var address: WebAddress
  package var headers: [DownloadHeader] = []
  /// nil for the whole file.
  package var rangeFrom: Int64?
  /// Empty the part first.
  package var dropsPart = false

  package init(address: WebAddress) { self.address = address }
}
