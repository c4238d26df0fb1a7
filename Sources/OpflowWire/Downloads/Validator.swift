package import OpflowBase

/// Distinguishes versions of a file (RFC 9110, 8.8).
package struct Validator: Equatable, Sendable {
  /// With quotes, and `W/` if weak.
  package var etag = ""
  package var lastModified = ""
  /// Another version could have the same date.
  package var hasFreshDate = false

  package init(etag: String = "", lastModified: String = "") {
    self.etag = etag
    self.lastModified = lastModified
  }

  private var opaqueTag: Substring { etag.hasPrefix("W/") ? etag.dropFirst(2) : etag[...] }

  private var isStrongETag: Bool { etag.hasPrefix("\"") && etag.count >= 2 }

  /// For If-Range, which a weak ETag cannot have (RFC 9110, 13.1.5).
  package var forRange: String? {
    if isStrongETag { return etag }
    return lastModified.isEmpty || hasFreshDate ? nil : lastModified
  }

  package var isEmpty: Bool { etag.isEmpty && lastModified.isEmpty }

  /// For a later run's conditional request, without a fresh date, which can hide a change within
  /// its second.
  package var forLater: Validator {
    Validator(etag: etag, lastModified: hasFreshDate ? "" : lastModified)
  }

  package func confirms(_ other: Validator) -> Bool {
    !contradicts(other)
      && ((!etag.isEmpty && !other.etag.isEmpty)
        || (!lastModified.isEmpty && !other.lastModified.isEmpty))
  }

  /// Ignores a value that only one of them has.
  package func contradicts(_ other: Validator) -> Bool {
    if !etag.isEmpty, !other.etag.isEmpty {
      // Some servers mark a fresh file's ETag as weak, and as strong a second later.
      if isStrongETag, other.isStrongETag { return etag != other.etag }
      return opaqueTag != other.opaqueTag
    }
    if !lastModified.isEmpty, !other.lastModified.isEmpty {
      return lastModified != other.lastModified
    }
    return false
  }
}

extension Validator {
  /// Drops values that contain secrets: masked, they would be other validators.
  package func masked(by masker: Masker) -> Validator {
    var validator = self
    if masker.finds(etag) { validator.etag = "" }
    if masker.finds(lastModified) { validator.lastModified = "" }
    return validator
  }
}
