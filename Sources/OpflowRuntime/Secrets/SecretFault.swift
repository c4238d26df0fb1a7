internal import OpflowCore

/// A secret that tasks to be run want and that cannot be had. Says nothing of its value.
package struct SecretFault: Error, Equatable {
  package let name: String
  /// Follows the name.
  let what: String
  let help: String?

  init(_ spec: SecretSpec, _ what: String, help: String? = nil) {
    name = spec.name
    self.what = what
    self.help = help
  }
}

/// All that cannot be had, and the tasks that are to be run and want a secret.
package struct SecretFaults: Error {
  package let faults: [SecretFault]
  package let tasks: Set<String>

  /// For a dry run, which takes none.
  static func warning(_ missing: [String]) -> String? {
    missing.isEmpty
      ? nil
      : "secrets that are not there, and without which it does not start: "
        + missing.joined(separator: ", ")
  }
}
