/// Names in pictures. They are clean already (`CleanText`); what stays in them is made into text for the
/// language of the picture.
enum GraphLabel {
  /// In columns. Boxes with longer names are wider than what they tell.
  private static let mostColumns = 60

  static func shortened(_ name: String) -> String { TextWidth.cutMiddle(name, to: mostColumns) }

  /// Within the quotes of DOT, in an attribute that Graphviz reads escapes and entities in. A file that
  /// Graphviz makes of it is XML, which may not hold U+FFFE and U+FFFF.
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

  /// Within the quotes of Mermaid: whatever may mean something to it, to its search for directives and
  /// styles, or to a browser, stands as the number of the character.
  static func mermaid(_ text: String) -> String {
    var result = ""
    let scalars = text.unicodeScalars
    for (place, scalar) in zip(scalars.indices, scalars) {
      switch scalar {
      // An icon would stand in place of `fa:fa-name`, were there no word joiner (U+2060) in it.
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
