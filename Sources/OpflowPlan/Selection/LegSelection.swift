internal import OpflowBase

extension Plan {
  /// The tasks of a matrix, or those with the values of `build[arch=x86_64]`.
  func legs(namedBy word: String) -> [TaskID]? {
    if families.isEmpty { return nil }
    var word = word
    if let family = word.withUTF8({ family(named: UnsafeRawBufferPointer($0)) }) {
      return legs(family).map { TaskID($0) }
    }
    let bytes = Array(word.utf8)
    guard bytes.last == UInt8(ascii: "]"), let open = bytes.firstIndex(of: UInt8(ascii: "[")),
      let family = bytes[..<open].withUnsafeBytes({ family(named: $0) }),
      let wanted = values(bytes[(open + 1)..<(bytes.count - 1)], of: family)
    else { return nil }
    let legs = legs(family).lazy.map { TaskID($0) }.filter { task in
      let values = self.legValues(task, of: family)
      return wanted.allSatisfy { self.text(values[$0.axis]).elementsEqual($0.value) }
    }
    return legs.isEmpty ? nil : Array(legs)
  }

  /// `NAME=VALUE` pairs; nil if invalid.
  private func values(
    _ text: ArraySlice<UInt8>, of family: FamilyID
  ) -> [(axis: Int, value: [UInt8])]? {
    let axes = axes(family)
    var values: [(axis: Int, value: [UInt8])] = []
    for part in text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
      guard let equals = part.firstIndex(of: UInt8(ascii: "=")),
        let axis = axes.firstIndex(where: { self.text($0).elementsEqual(part[..<equals]) })
      else { return nil }
      values.append((axis, Self.unescaped(part[(equals + 1)...])))
    }
    return values
  }

  /// `%XX` as in task IDs; users may write it or not.
  private static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    var position = text.startIndex
    while position < text.endIndex {
      if text[position] == UInt8(ascii: "%"), position + 2 < text.endIndex,
        let high = Hexadecimal.digit(text[position + 1]),
        let low = Hexadecimal.digit(text[position + 2])
      {
        bytes.append(high << 4 | low)
        position += 3
      } else {
        bytes.append(text[position])
        position += 1
      }
    }
    return bytes
  }
}
