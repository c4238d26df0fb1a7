internal import OpflowCore
internal import OpflowManifest
internal import OpflowSystem

/// What `OPFLOW_LEASE` says of how long tasks on other machines go on without a word from the coordinator, for networks
/// that stall for longer than most.
package struct LeaseSetting: Equatable {
  package static let variable = "OPFLOW_LEASE"

  let milliseconds: Int64

  /// - Throws: what it takes, for people.
  package init(_ text: String? = Environment.value(variable)) throws(LeaseFault) {
    guard let text else {
      milliseconds = AgentLease.standardMilliseconds
      return
    }
    guard let given = WrittenDuration.milliseconds(text), (100...3_600_000).contains(given) else {
      throw LeaseFault(
        message:
          "\(Self.variable) takes a duration from 100ms to 1h, such as 20s, not `\(CleanText.string(text))`"
      )
    }
    milliseconds = Int64(given)
  }
}

/// What is wrong with it.
package struct LeaseFault: Error, Equatable {
  package let message: String
}
