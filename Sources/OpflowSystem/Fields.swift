extension ArraySlice<UInt8> {
  /// Takes what stands before the next `separator`, or all, and the separator; nil where nothing is left. For files
  /// of the kernel that every run reads: no list of lines or words is made.
  mutating func takeField(before separator: UInt8) -> ArraySlice<UInt8>? {
    if isEmpty { return nil }
    let end = firstIndex(of: separator) ?? endIndex
    let field = self[startIndex..<end]
    self = self[Swift.min(end + 1, endIndex)...]
    return field
  }
}
