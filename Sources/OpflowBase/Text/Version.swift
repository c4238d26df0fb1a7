package enum Version {
  /// Part of every journal and every plan's key.
  package static let text = "0.1.0"
}
