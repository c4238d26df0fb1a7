internal import CHash

/// How a text stands to another by their bytes, as numbers without a sign.
package enum ByteOrder: Equatable, Sendable {
  case before
  case same
  case behind

  package init(_ bytes: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) {
    let order = chash_order(
      bytes.baseAddress, bytes.count, other.baseAddress, other.count)
    self = order < 0 ? .before : order == 0 ? .same : .behind
  }
}

extension String {
  /// By the bytes of UTF-8. `<` would take letters that are written in two ways for the same.
  package func comparing(bytesOf other: String) -> ByteOrder {
    var (bytes, others) = (self, other)
    return bytes.withUTF8 { bytes in
      others.withUTF8 { others in
        ByteOrder(UnsafeRawBufferPointer(bytes), UnsafeRawBufferPointer(others))
      }
    }
  }
}
