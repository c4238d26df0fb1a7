/// Writes all fields of a message, or reads one field, by one list that names each field once.
/// Ignores invalid values.
package struct FieldPass {
  private var writer = FieldWriter()
  /// nil to write all.
  private let field: LineField?
  private let key: Key?
  package private(set) var isKnown = false
  package private(set) var isValid = true

  private init(_ field: LineField?) {
    self.field = field
    key = field?.key
  }

  package static func write(to writer: inout FieldWriter, _ list: (inout FieldPass) -> Void) {
    var pass = FieldPass(nil)
    swap(&pass.writer, &writer)
    list(&pass)
    swap(&pass.writer, &writer)
  }

  @discardableResult
  package static func read(_ field: LineField, _ list: (inout FieldPass) -> Void) -> FieldPass {
    var pass = FieldPass(field)
    list(&pass)
    return pass
  }

  package mutating func value<Value>(
    _ key: Key, _ value: inout Value, read: (LineField) -> Value?,
    write: (Value, inout FieldWriter) -> Void
  ) {
    guard let field else { return write(value, &writer) }
    guard self.key == key else { return }
    isKnown = true
    if let told = read(field) { value = told } else { isValid = false }
  }

  package mutating func text(_ key: Key, _ text: inout String, evenIfEmpty: Bool = false) {
    value(key, &text, read: { Field.text($0.value) }) { text, writer in
      if evenIfEmpty || !text.isEmpty { writer.field(key, text) }
    }
  }

  package mutating func text<Value>(
    _ key: Key, _ value: inout Value, _ parse: (String) -> Value?, _ text: (Value) -> String?
  ) {
    self.value(key, &value, read: { parse($0.text) }) { value, writer in
      if let text = text(value) { writer.field(key, text) }
    }
  }

  package mutating func texts(_ key: Key, _ texts: inout [String]) {
    each(key, &texts, read: { $0.text }, write: { $1.escaped($0) })
  }

  package mutating func each<Value>(
    _ key: Key, _ values: inout [Value], read: (LineField) -> Value?,
    write: (Value, inout FieldWriter) -> Void
  ) {
    guard let field else {
      for value in values {
        writer.begin(key)
        write(value, &writer)
      }
      return
    }
    guard self.key == key else { return }
    isKnown = true
    if let value = read(field) { values.append(value) } else { isValid = false }
  }

  package mutating func bytes(_ key: Key, _ bytes: inout [UInt8]) {
    value(key, &bytes, read: { Field.unescaped($0.value) }) { bytes, writer in
      if !bytes.isEmpty { writer.field(key, bytes) }
    }
  }

  package mutating func number<Value: FixedWidthInteger>(
    _ key: Key, _ number: inout Value, atLeast least: Value = .min, evenIfZero: Bool = false
  ) {
    value(key, &number, read: { Self.number($0, atLeast: least) }) { number, writer in
      if evenIfZero || number != 0 { writer.field(key, number) }
    }
  }

  /// Omits nil.
  package mutating func number<Value: FixedWidthInteger>(
    _ key: Key, _ number: inout Value?, atLeast least: Value = .min
  ) {
    value(key, &number, read: { Self.number($0, atLeast: least).map { .some($0) } }) {
      if let number = $0 { $1.field(key, number) }
    }
  }

  private static func number<Value: FixedWidthInteger>(
    _ field: LineField, atLeast least: Value
  ) -> Value? {
    guard let number: Value = Field.number(field.value), number >= least else { return nil }
    return number
  }

  /// At most 18 digits, so that a sum of some cannot overflow.
  package mutating func natural<Value: FixedWidthInteger>(
    _ key: Key, _ number: inout Value, evenIfZero: Bool = false
  ) {
    value(key, &number, read: { $0.value.natural.flatMap { Value(exactly: $0) } }) {
      if evenIfZero || $0 != 0 { $1.field(key, $0) }
    }
  }

  package mutating func natural<Value: FixedWidthInteger>(_ key: Key, _ number: inout Value?) {
    value(key, &number, read: { $0.value.natural.map { Value(exactly: $0) } }) {
      if let number = $0 { $1.field(key, number) }
    }
  }

  package mutating func flag(_ key: Key, _ flag: inout Bool) {
    value(key, &flag, read: { $0.natural != 0 }) { if $0 { $1.field(key, 1) } }
  }

  /// Sixteen digits; omits 0.
  package mutating func hash(_ key: Key, _ hash: inout UInt64) {
    value(key, &hash, read: { Hexadecimal.value($0.value) }) { hash, writer in
      if hash == 0 { return }
      writer.begin(key)
      writer.hexadecimal(hash, digitCount: 16)
    }
  }
}
