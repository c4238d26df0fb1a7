internal import CHash

/// The order of two byte strings as unsigned bytes.
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
  /// Compares the UTF-8 bytes. `<` treats canonically equivalent strings as equal.
  package func comparing(bytesOf other: String) -> ByteOrder {
    var (bytes, others) = (self, other)
    return bytes.withUTF8 { bytes in
      others.withUTF8 { others in
        ByteOrder(UnsafeRawBufferPointer(bytes), UnsafeRawBufferPointer(others))
      }
    }
  }
}
