package enum Version {
  /// Recorded in every journal, and part of every plan's key.
  package static let text = "0.1.0"
}
