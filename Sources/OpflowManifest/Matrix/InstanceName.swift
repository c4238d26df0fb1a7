internal import OpflowBase

/// Makes IDs of matrix tasks: `build[arch=x86_64,mode=debug]`. In values, bytes that IDs may not
/// contain become `%XX`. An ID above 200 bytes is shortened and ends in `~`, a hash of 16 digits,
/// and `]`; the matrix's ID stays whole. No other ID contains `~`.
struct InstanceName {
  let store: TextStore

  static let mostBytes = 200
  /// `~`, the hash and `]`.
  private static let endBytes = 18

  func make(_ matrixGroup: ByteView, _ values: some Sequence<(name: ByteView, value: ByteView)>)
    -> ByteView
  {
    store.append(matrixGroup)
    store.append("[")
    var isFirst = true
    for (name, value) in values {
      if !isFirst { store.append(",") }
      isFirst = false
      store.append(name)
      store.append("=")
      addEscaped(value)
    }
    store.append("]")
    let id = store.finish()
    return id.count > Self.mostBytes ? cut(id, matrixGroup) : id
  }

  private func cut(_ id: ByteView, _ matrixGroup: ByteView) -> ByteView {
    var end = max(Self.mostBytes - Self.endBytes, matrixGroup.count + 1)
    // The cut must not split a `%XX`.
    if let percent = id[max(matrixGroup.count, end - 2)..<end].lastIndex(of: UInt8(ascii: "%")) {
      end = percent
    }
    var last = [UInt8(ascii: "~")]
    Hexadecimal.append(Hash.xxh3(id), digitCount: 16, to: &last)
    last.append(UInt8(ascii: "]"))
    store.append(id.part(0..<end))
    return last.withUnsafeBytes {
      store.append($0); return store.finish()
    }
  }

  /// A shortened ID lacks some values.
  static func isCut(_ id: ByteView) -> Bool {
    id.count > endBytes && id[id.count - endBytes] == UInt8(ascii: "~")
  }

  private func addEscaped(_ value: ByteView) {
    if value.allSatisfy(TaskName.isAllowed) { return store.append(value) }
    for byte in value {
      if TaskName.isAllowed(byte) {
        store.append(byte)
      } else {
        let digits = Array("0123456789ABCDEF".utf8)
        let escape = [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        escape.withUnsafeBytes { store.append($0) }
      }
    }
  }

  /// Decodes a value in `needs`, where `%XX` is optional.
  static func unescaped(_ value: ByteView, store: TextStore) -> ByteView {
    guard value.contains(UInt8(ascii: "%")) else { return value }
    var position = 0
    while position < value.count {
      if value[position] == UInt8(ascii: "%"), position + 2 < value.count,
        let high = Hexadecimal.digit(value[position + 1]),
        let low = Hexadecimal.digit(value[position + 2])
      {
        store.append(high << 4 | low)
        position += 3
      } else {
        store.append(value.part(position..<(position + 1)))
        position += 1
      }
    }
    return store.finish()
  }
}

/// Selects matrix tasks in `needs`: `build[arch]` those with the dependent's own value of `arch`,
/// `build[arch=x86_64]` those with the given value.
struct InstanceSelector {
  struct Part {
    var axis: ByteView
    /// Nil for the dependent's own value.
    var value: ByteView?
  }

  let matrixGroup: ByteView
  let parts: [Part]

  var joins: Bool { parts.contains { $0.value == nil } }

  init?(_ text: ByteView) {
    guard text.last == UInt8(ascii: "]"), let open = text.firstIndex(of: UInt8(ascii: "[")),
      open > 0
    else { return nil }
    matrixGroup = text.part(0..<open)
    var parts: [Part] = []
    var start = open + 1
    while true {
      let end = text[start..<(text.count - 1)].firstIndex(of: UInt8(ascii: ",")) ?? text.count - 1
      let part = text.part(start..<end).trimmed
      let equals = part.firstIndex(of: UInt8(ascii: "="))
      parts.append(
        Part(
          axis: part.part(0..<(equals ?? part.count)).trimmed,
          value: equals.map { part.part(($0 + 1)..<part.count) }))
      if end == text.count - 1 { break }
      start = end + 1
    }
    self.parts = parts
  }
}
