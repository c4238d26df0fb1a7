internal import OpflowCore

/// A secret that a task needs and that is unavailable. Never contains the value.
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

/// All unavailable secrets, and the tasks that need secrets.
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
