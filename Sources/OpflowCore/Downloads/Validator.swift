/// What tells one version of a file from another (RFC 9110, 8.8).
package struct Validator: Equatable, Sendable {
  /// With its quotes, and `W/` where it is weak.
  package var etag = ""
  package var lastModified = ""
  /// Two versions may bear that date.
  package var hasFreshDate = false

  package init(etag: String = "", lastModified: String = "") {
    self.etag = etag
    self.lastModified = lastModified
  }

  private var opaqueTag: Substring { etag.hasPrefix("W/") ? etag.dropFirst(2) : etag[...] }

  private var isStrongETag: Bool { etag.hasPrefix("\"") && etag.count >= 2 }

  /// For If-Range: the strong ETag, or else the date where it is as good. A weak ETag does not serve
  /// there (RFC 9110, 13.1.5).
  package var forRange: String? {
    if isStrongETag { return etag }
    return lastModified.isEmpty || hasFreshDate ? nil : lastModified
  }

  package var isEmpty: Bool { etag.isEmpty && lastModified.isEmpty }

  /// What a later run may ask with whether the file has changed: a date that is too fresh would say
  /// no of a change within its second.
  package var forLater: Validator {
    Validator(etag: etag, lastModified: hasFreshDate ? "" : lastModified)
  }

  /// Whether both name the same version.
  package func confirms(_ other: Validator) -> Bool {
    !contradicts(other)
      && ((!etag.isEmpty && !other.etag.isEmpty)
        || (!lastModified.isEmpty && !other.lastModified.isEmpty))
  }

  /// Whether the two cannot be of the same version. What only one of them has says nothing.
  package func contradicts(_ other: Validator) -> Bool {
    if !etag.isEmpty, !other.etag.isEmpty {
      // Servers call the ETag of a file weak while it is fresh, and strong a second later.
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
  /// The same without secrets: what holds one is left out, since a changed validator is another.
  package func masked(by masker: Masker) -> Validator {
    var validator = self
    if masker.finds(etag) { validator.etag = "" }
    if masker.finds(lastModified) { validator.lastModified = "" }
    return validator
  }
}
