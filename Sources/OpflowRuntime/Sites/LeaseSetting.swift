internal import OpflowBase
internal import OpflowManifest
internal import OpflowSystem
internal import OpflowWire

/// The heartbeat timeout from `OPFLOW_LEASE`: how long tasks on nodes continue without a message
/// from the coordinator. Raise it for networks with long stalls.
package struct LeaseSetting: Equatable {
  package static let variable = "OPFLOW_LEASE"

  let milliseconds: Int64

  package init(_ text: String? = Environment.value(variable)) throws(LeaseFault) {
    guard let text else {
      milliseconds = AgentLease.standardMilliseconds
      return
    }
    guard let given = WrittenDuration.milliseconds(text), (100...3_600_000).contains(given) else {
      throw LeaseFault(
        message:
          "\(Self.variable) takes a duration from 100ms to 1h, such as 20s, not "
          + "`\(CleanText.string(text))`"
      )
    }
    milliseconds = Int64(given)
  }
}

package struct LeaseFault: Error, Equatable {
  package let message: String
}
