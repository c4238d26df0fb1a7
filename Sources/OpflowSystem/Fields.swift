extension ArraySlice<UInt8> {
  /// Removes the bytes up to the next `separator`, which is dropped; nil if empty. Does not
  /// allocate: every run parses kernel files with it.
  mutating func takeField(before separator: UInt8) -> ArraySlice<UInt8>? {
    if isEmpty { return nil }
    let end = firstIndex(of: separator) ?? endIndex
    let field = self[startIndex..<end]
    self = self[Swift.min(end + 1, endIndex)...]
    return field
  }
}
