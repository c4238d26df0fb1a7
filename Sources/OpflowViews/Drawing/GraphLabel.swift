/// Escapes clean names (`CleanText`) for pictures.
enum GraphLabel {
  /// The longest name, in columns.
  private static let mostColumns = 60

  static func shortened(_ name: String) -> String { TextWidth.cutMiddle(name, to: mostColumns) }

  /// For a quoted DOT attribute, where Graphviz interprets escapes and entities. SVG is XML,
  /// without U+FFFE and U+FFFF.
  static func dot(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\\\"
      case "\"": result += "\\\""
      case "&": result += "&amp;"
      case "\t": result += " "
      case "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// For a quoted Mermaid text. What Mermaid, its directives and styles or a browser may interpret
  /// becomes a numeric reference.
  static func mermaid(_ text: String) -> String {
    var result = ""
    let scalars = text.unicodeScalars
    for (place, scalar) in zip(scalars.indices, scalars) {
      switch scalar {
      // A word joiner (U+2060) keeps `fa:fa-name` from becoming an icon.
      case ":" where scalars[place...].starts(with: ":fa-".unicodeScalars): result += "#58;#8288;"
      case "0"..."9", "A"..."Z", "a"..."z", " ", "_", "-", ".", "/", "+", ",", "(", ")", "=", "[",
        "]", "…":
        result.unicodeScalars.append(scalar)
      case "\t": result += " "
      default:
        if scalar.value > 0x9F {
          result.unicodeScalars.append(scalar)
        } else {
          result += "#\(scalar.value);"
        }
      }
    }
    return result
  }
}
