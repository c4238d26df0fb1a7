/// Values in the words of programs, written down here without the masker's help.
enum Encoding {
  struct Form {
    let name: String
    let bytes: [UInt8]
  }

  /// Of bytes that are no UTF-8 there are no JSON and no XML.
  static func forms(of value: [UInt8]) -> [Form] {
    var forms = [
      Form(name: "plain", bytes: value),
      Form(name: "base64", bytes: base64(value, url: false)),
      Form(name: "base64url", bytes: base64(value, url: true)),
      Form(name: "base64 without padding", bytes: base64(value, url: false).filter { $0 != 61 }),
      Form(name: "hex", bytes: hexadecimal(value, 32)),
      Form(name: "HEX", bytes: hexadecimal(value, 0)),
      Form(name: "percent", bytes: percent(value, keeps: "-._~", upper: true)),
      Form(name: "percent, lower case", bytes: percent(value, keeps: "-._~", upper: false)),
      Form(name: "percent, all", bytes: percent(value, keeps: "", upper: true, letters: false)),
      Form(name: "encodeURI", bytes: percent(value, keeps: ";,/?:@&=+$-_.!~*'()#", upper: true)),
      Form(name: "form", bytes: percent(value, keeps: "-._*", upper: true, blank: 43)),
      Form(name: "quotes", bytes: Array(value.flatMap { $0 == 39 ? Array("'\\''".utf8) : [$0] })),
      Form(
        name: "dash quotes",
        bytes: Array(value.flatMap { $0 == 39 ? Array("'\"'\"'".utf8) : [$0] })),
      Form(name: "printf %q", bytes: quoted(value)), Form(name: "$'…'", bytes: ansi(value)),
    ]
    if value.allSatisfy({ 32...126 ~= $0 }) {
      forms += hidden.map { name, text in
        Form(name: name, bytes: value.prefix(3) + Array(text.utf8) + value.dropFirst(3))
      }
      forms.append(Form(name: "NULs", bytes: Array(value.map { [$0] }.joined(separator: [0]))))
    }
    guard let text = String(validating: value, as: UTF8.self) else { return forms }
    forms += [
      Form(name: "JSON", bytes: json(text, slash: false, ascii: false)),
      Form(name: "JSON with \\/", bytes: json(text, slash: true, ascii: false)),
      Form(name: "JSON in ASCII", bytes: json(text, slash: false, ascii: true)),
      Form(name: "XML", bytes: xml(text) { _ in nil }),
      Form(name: "XML, decimal", bytes: xml(text) { "&#\($0);" }),
      Form(name: "XML, hexadecimal", bytes: xml(text) { "&#x" + String($0, radix: 16) + ";" }),
      Form(
        name: "XML, HEXADECIMAL",
        bytes: xml(text) { "&#x" + String($0, radix: 16, uppercase: true) + ";" }),
    ]
    return forms
  }

  /// What views leave out of a line.
  private static let hidden = [
    ("colour", "\u{1b}[01;31m\u{1b}[K"), ("link", "\u{1b}]8;;http://h/\u{1b}\\"),
    ("title", "\u{1b}]0;title\u{7}"), ("backspace", "\u{8}"), ("character set", "\u{1b}(B"),
    ("delete", "\u{7f}\u{1}"), ("C1", "\u{9b}"), ("direction", "\u{202e}\u{2066}"),
    ("zero width", "\u{200b}\u{2028}\u{2060}"), ("byte order", "\u{feff}"),
    ("tag", "\u{e0041}\u{e007f}"),
  ]

  static func base64(_ value: [UInt8], url: Bool) -> [UInt8] {
    let alphabet = Array(
      ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + (url ? "-_" : "+/")).utf8)
    var result: [UInt8] = []
    for start in stride(from: 0, to: value.count, by: 3) {
      let group = value[start..<min(start + 3, value.count)]
      let bits = (0..<3).reduce(0) { $0 << 8 | ($1 < group.count ? Int(group[start + $1]) : 0) }
      for digit in 0..<4 {
        result.append(digit <= group.count ? alphabet[bits >> (18 - 6 * digit) & 63] : 61)
      }
    }
    return result
  }

  /// - Parameter letterCase: 32 for small letters.
  static func hexadecimal(_ value: [UInt8], _ letterCase: UInt8) -> [UInt8] {
    let digits: [UInt8] = Array("0123456789ABCDEF".utf8)
    var text: [UInt8] = []
    for byte in value {
      for digit in [digits[Int(byte >> 4)], digits[Int(byte & 15)]] {
        text.append(digit > 64 ? digit | letterCase : digit)
      }
    }
    return text
  }

  private static func percent(
    _ value: [UInt8], keeps: String, upper: Bool, blank: UInt8? = nil, letters: Bool = true
  ) -> [UInt8] {
    value.flatMap { byte -> [UInt8] in
      let isLetter =
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
      if letters && isLetter || keeps.utf8.contains(byte) { return [byte] }
      if byte == 32, let blank { return [blank] }
      return [37] + hexadecimal([byte], upper ? 0 : 32)
    }
  }

  private static func json(_ text: String, slash: Bool, ascii: Bool) -> [UInt8] {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case "\r": result += "\\r"
      case "/" where slash: result += "\\/"
      case _ where scalar.value < 32 || ascii && (scalar.value > 126 || scalar == "<"):
        for unit in String(Character(scalar)).utf16 {
          let digits = String(unit, radix: 16)
          result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
      default: result.unicodeScalars.append(scalar)
      }
    }
    return Array(result.utf8)
  }

  private static func xml(_ text: String, _ number: (UInt32) -> String?) -> [UInt8] {
    let names: [Unicode.Scalar: String] = [
      "<": "&lt;", ">": "&gt;", "&": "&amp;", "\"": "&quot;", "'": "&apos;",
    ]
    var result = ""
    for scalar in text.unicodeScalars {
      if let name = names[scalar] {
        result += number(scalar.value) ?? name
      } else if scalar.value > 126 || scalar.value < 32, let number = number(scalar.value) {
        result += number
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return Array(result.utf8)
  }

  /// As bash's `printf %q` writes what has no control characters, and `$'…'` where it has.
  private static func quoted(_ value: [UInt8]) -> [UInt8] {
    if value.contains(where: { $0 < 32 || $0 > 126 }) { return ansi(value) }
    return value.flatMap { byte -> [UInt8] in
      " !\"#$&'()*,;<>?[\\]^`{|}~".utf8.contains(byte) ? [92, byte] : [byte]
    }
  }

  private static func ansi(_ value: [UInt8]) -> [UInt8] {
    value.flatMap { byte -> [UInt8] in
      switch byte {
      case 10: return Array("\\n".utf8)
      case 9: return Array("\\t".utf8)
      case 13: return Array("\\r".utf8)
      case 27: return Array("\\E".utf8)
      case 39: return Array("\\'".utf8)
      case 92: return Array("\\\\".utf8)
      case ..<32, 127...:
        let digits = String(byte, radix: 8)
        return Array(("\\" + String(repeating: "0", count: 3 - digits.count) + digits).utf8)
      default: return [byte]
      }
    }
  }

  static func broken(_ bytes: [UInt8], at width: Int, _ end: String) -> String {
    stride(from: 0, to: bytes.count, by: width)
      .map { String(decoding: bytes[$0..<min($0 + width, bytes.count)], as: UTF8.self) }
      .joined(separator: end)
  }
}
