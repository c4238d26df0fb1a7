package enum Version {
  /// Stands in every journal and is part of every plan's key.
  package static let text = "0.1.0"
}
