internal import OpflowBase
internal import OpflowJournal

/// The control sequences that a terminal understands, judged by environment variables. Other
/// terminals may print them, or show the first kind as a desktop message, so only terminals that
/// are known to understand a sequence get it.
///
/// - Progress (OSC 9;4, of ConEmu): Windows Terminal, ConEmu, Ghostty, mintty, the terminal of
///   Visual Studio Code, WezTerm of 2025, iTerm2 from 3.6.6 and VTE from 0.80 on. Older versions of
///   WezTerm and iTerm2 show a message, and so do kitty and foot.
/// - Links (OSC 8): those, WezTerm, iTerm2 from 3.1 and VTE from 0.50 on, kitty, Konsole, foot,
///   Alacritty.
///
/// tmux accepts links from 3.4 on and passes them to terminals that it knows to have them; tmux and
/// screen drop or print the rest.
package struct TerminalSignals: Equatable, Sendable {
  package private(set) var hasProgress = false
  package private(set) var hasLinks = false

  package init() {}

  package init(_ value: (String) -> String?) {
    func isSet(_ name: String) -> Bool { !(value(name) ?? "").isEmpty }
    let term = value("TERM") ?? ""
    if term.isEmpty || term == "dumb" || term == "linux" { return }
    let program = value("TERM_PROGRAM") ?? ""
    let version = Self.version(value("TERM_PROGRAM_VERSION") ?? "")
    // The variables of the terminal around tmux are still set.
    if isSet("TMUX") || term.hasPrefix("tmux") || program == "tmux" {
      hasLinks = program == "tmux" && !version.lexicographicallyPrecedes([3, 4])
      return
    }
    if isSet("STY") || term.hasPrefix("screen") { return }
    if ["xterm-kitty", "foot", "foot-extra", "alacritty", "xterm-ghostty"].contains(term) {
      hasLinks = true
      hasProgress = term == "xterm-ghostty"
      return
    }
    switch program {
    case "ghostty", "mintty", "vscode":
      (hasProgress, hasLinks) = (true, true)
      return
    case "WezTerm":
      hasProgress = (version.first ?? 0) >= 20_250_210
      hasLinks = true
      return
    case "iTerm.app":
      hasProgress = !version.lexicographicallyPrecedes([3, 6, 6])
      hasLinks = !version.lexicographicallyPrecedes([3, 1])
      return
    case "Apple_Terminal": return
    default: break
    }
    if isSet("WT_SESSION") || value("ConEmuANSI") == "ON" {
      (hasProgress, hasLinks) = (true, true)
    } else if let vte = value("VTE_VERSION").flatMap({ Int($0) }) {
      hasProgress = vte >= 8000
      // 0.50.0 crashes on a link.
      hasLinks = vte > 5000
    } else {
      hasLinks = isSet("KITTY_WINDOW_ID") || isSet("KONSOLE_VERSION")
    }
  }

  private static func version(_ text: String) -> [Int] {
    text.split(separator: ".").map { Int($0.prefix { $0.isASCII && $0.isNumber }) ?? 0 }
  }

  // MARK: - Progress

  func progress(_ model: SessionModel) -> String {
    if !hasProgress || model.total == 0 { return "" }
    let isHeld = model.isStopped || model.requests.pausedBy != nil
    let state = model.counts.failed > 0 ? 2 : isHeld ? 4 : 1
    return "\u{1b}]9;4;\(state);\(100 * model.finished / model.total)\u{1b}\\"
  }

  var noProgress: String { hasProgress ? "\u{1b}]9;4;0;0\u{1b}\\" : "" }

  // MARK: - Links

  package func link(_ text: String, to path: String, host: String) -> String {
    guard hasLinks, path.utf8.first == UInt8(ascii: "/") else { return text }
    return
      "\u{1b}]8;;file://\(Self.escaped(host))\(Self.escaped(path))\u{1b}\\\(text)\u{1b}]8;;\u{1b}\\"
  }

  /// RFC 3986, 3.3.
  private static func escaped(_ text: String) -> String {
    var escaped: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"),
        UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "+"),
        UInt8(ascii: "="), UInt8(ascii: "@"):
        escaped.append(byte)
      default:
        escaped.append(UInt8(ascii: "%"))
        Hexadecimal.append(UInt64(byte), digitCount: 2, to: &escaped)
      }
    }
    return String(decoding: escaped, as: UTF8.self)
  }
}
