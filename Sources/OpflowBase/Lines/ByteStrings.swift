/// Byte strings in one buffer: as objects, a million names would take most of the memory.
package struct ByteStrings: Equatable, Sendable {
  private var bytes: [UInt8] = []
  private var ends: [Int] = []

  package init() {}

  package var count: Int { ends.count }
  package var isEmpty: Bool { ends.isEmpty }
  package var byteCount: Int { bytes.count }

  package mutating func reserve(count: Int, bytes byteCount: Int) {
    ends.reserveCapacity(count)
    bytes.reserveCapacity(byteCount)
  }

  package mutating func append(_ string: UnsafeRawBufferPointer) {
    bytes.append(contentsOf: string)
    ends.append(bytes.count)
  }

  package mutating func append(_ head: UnsafeRawBufferPointer, _ tail: UnsafeRawBufferPointer) {
    bytes.append(contentsOf: head)
    append(tail)
  }

  package mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }

  package mutating func append(_ count: Int, of other: ByteStrings) {
    let start = bytes.count
    bytes.append(contentsOf: other.bytes[..<other.start(of: count)])
    ends.append(contentsOf: other.ends[..<count].lazy.map { $0 + start })
  }

  private func start(of place: Int) -> Int { place == 0 ? 0 : ends[place - 1] }

  /// The bytes are valid during the call only.
  @inline(__always)
  package func with<Result>(_ place: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    let (start, end) = (start(of: place), ends[place])
    return bytes.withUnsafeBytes { body($0.part(start, end)) }
  }

  package func withAll<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    bytes.withUnsafeBytes(body)
  }

  package subscript(place: Int) -> [UInt8] { Array(bytes[start(of: place)..<ends[place]]) }

  package func text(_ place: Int) -> String {
    NameCharacters.text(bytes[start(of: place)..<ends[place]])
  }

  package func order(_ place: Int, _ other: Int) -> ByteOrder {
    let (start, end) = (start(of: place), ends[place])
    let (otherStart, otherEnd) = (self.start(of: other), ends[other])
    return bytes.withUnsafeBytes { ByteOrder($0.part(start, end), $0.part(otherStart, otherEnd)) }
  }

  /// Indexes in byte order, without duplicates; nil if already so.
  package func ordered() -> [Int32]? {
    var place = 1
    while place < count, order(place - 1, place) == .before { place += 1 }
    if place >= count { return nil }
    var places = Array(0..<Int32(count))
    places.sort { left, right in
      switch order(Int(left), Int(right)) {
      case .before: true
      case .same: left < right
      case .behind: false
      }
    }
    var last = 0
    for place in places.dropFirst() where order(Int(places[last]), Int(place)) != .same {
      last += 1
      places[last] = place
    }
    places.removeSubrange((last + 1)...)
    return places
  }

  package func picked(_ places: [Int32]) -> ByteStrings {
    var picked = ByteStrings()
    picked.reserve(count: places.count, bytes: bytes.count)
    for place in places { with(Int(place)) { picked.append($0) } }
    return picked
  }

  package mutating func sort() {
    if let places = ordered() { self = picked(places) }
  }
}

/// The characters of a file name; a byte that is not UTF-8 becomes one above Unicode.
package enum NameCharacters {
  private static let firstByte: UInt32 = 0x11_0000
  package static let last = firstByte + 0xFF

  package static func of(_ name: some Collection<UInt8>) -> [UInt32] {
    var characters: [UInt32] = []
    var parser = Unicode.UTF8.ForwardParser()
    var iterator = name.makeIterator()
    var rest = name[...]
    while true {
      switch parser.parseScalar(from: &iterator) {
      case .valid(let encoded):
        characters.append(UTF8.decode(encoded).value)
        rest = rest.dropFirst(encoded.count)
      case .error(let length):
        characters += rest.prefix(length).map { firstByte + UInt32($0) }
        rest = rest.dropFirst(length)
      case .emptyInput: return characters
      }
    }
  }

  /// For messages, reports and JSON; an invalid byte becomes `\xe9`.
  package static func text(_ name: some Collection<UInt8>) -> String {
    if let text = String(validating: name, as: UTF8.self) { return text }
    var text = String.UnicodeScalarView()
    for character in of(name) {
      if let scalar = Unicode.Scalar(character) {
        text.append(scalar)
      } else {
        var escape = Array("\\x".utf8)
        Hexadecimal.append(UInt64(character - firstByte), digitCount: 2, to: &escape)
        text.append(contentsOf: String(decoding: escape, as: UTF8.self).unicodeScalars)
      }
    }
    return String(text)
  }
}

extension String {
  /// Lower-cases only A to Z, as protocols compare names.
  package var asciiLowercased: String {
    String(decoding: utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
  }
}
