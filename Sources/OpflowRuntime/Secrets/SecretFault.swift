internal import OpflowPlan

/// Why a needed secret is unavailable. Never contains the value.
package struct SecretFault: Error, Equatable {
  package let name: String
  /// Follows the name in the message.
  let what: String
  let help: String?

  init(_ spec: SecretSpec, _ what: String, help: String? = nil) {
    name = spec.name
    self.what = what
    self.help = help
  }
}

/// `tasks` need secrets.
package struct SecretFaults: Error {
  package let faults: [SecretFault]
  package let tasks: Set<String>

  static func warning(_ missing: [String]) -> String? {
    missing.isEmpty
      ? nil
      : "secrets that are not there, and without which it does not start: "
        + missing.joined(separator: ", ")
  }
}
