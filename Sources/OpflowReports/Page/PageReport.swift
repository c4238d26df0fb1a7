internal import CPage
internal import OpflowBase
package import OpflowJournal
internal import OpflowPlan

/// A run as a page: one file for a browser, without a network. Produced in pieces, to save memory.
///
/// Important parts are markup and do not need a script: the result and its reason, failures with
/// the end of their output, the slowest tasks, retries, and effects of a resume. The rest is data
/// for the page's script: times, the graph, a table of tasks. The page's policy allows only the
/// hashes of its script and style.
package struct PageReport {
  let status: RunStatus
  let resumeCommand: String
  let output: OutputSource
  let numbers: PageNumbers
  let culprits: SkipCulprits
  let failures: [TaskID]
  let before: RunStatus?
  let comparison: RunComparison?
  var html = MarkupWriter()
  var outputRoom = 1 << 20
  var data: PageData
  private var part = Part.head
  private var next = 0

  private enum Part: Int { case head, failures, tables, data, foot, none }

  private static let pieceBytes = 65_536

  package init(
    _ status: RunStatus, before: RunStatus? = nil, resumeCommand: String,
    output: @escaping OutputSource
  ) {
    self.status = status
    self.before = before
    comparison = before.map { RunComparison(status, before: $0) }
    self.resumeCommand = resumeCommand
    self.output = output
    numbers = PageNumbers(status)
    culprits = SkipCulprits(status)
    failures = RunFailures.of(status)
    data = PageData(status, numbers, comparison)
  }

  package mutating func nextPiece() -> [UInt8]? {
    while part != .none, html.bytes.count < Self.pieceBytes {
      if !writeNext() {
        part = Part(rawValue: part.rawValue + 1) ?? .none
        next = 0
      }
    }
    return html.bytes.isEmpty ? nil : html.take()
  }

  private mutating func writeNext() -> Bool {
    defer { next += 1 }
    switch part {
    case .head:
      guard next == 0 else { return false }
      writeHead()
      writeSummary()
    case .failures: return writeFailure(next)
    case .tables:
      guard next == 0 else { return false }
      html.add("<noscript><p>Allow scripts on this page to see the timeline, the graph and the ")
      html.add("table of all tasks.</p></noscript>\n")
      html.embed(String(cString: cpage_time()).utf8)
      writeTables()
      html.embed(String(cString: cpage_views()).utf8)
    case .data:
      guard let block = data.nextBlock() else { return false }
      html.add("<script type=\"application/json\" class=\"data\">")
      html.embed(block)
      html.add("</script>\n")
    case .foot:
      guard next == 0 else { return false }
      html.add("<script>")
      html.embed(PageScript.text.utf8)
      html.add("</script>\n</body>\n</html>\n")
    case .none: return false
    }
    return true
  }

  private mutating func writeHead() {
    let policy = PagePolicy.text(script: PageScript.text, style: PageStyle.text)
    html.add(
      """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta http-equiv="Content-Security-Policy" content="\(policy)">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <meta name="referrer" content="no-referrer">
      <title>\(status.name) \(status.state.rawValue), run \(status.run)</title>
      <style>
      """)
    html.embed(PageStyle.text.utf8)
    html.add("</style>\n</head>\n<body>\n")
  }
}

enum PagePolicy {
  static func text(script: String, style: String) -> String {
    "default-src 'none'; script-src '\(hash(script))'; style-src '\(hash(style))';"
      + " base-uri 'none'; form-action 'none'"
  }

  /// Content Security Policy Level 3, 2.3.1.
  static func hash(_ text: String) -> String {
    "sha256-\(base64(SHA256.digest(of: text.utf8).bytes))"
  }

  /// RFC 4648, section 4.
  static func base64(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var text = ""
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let part = bytes[start..<min(start + 3, bytes.count)]
      let value = (0..<3).reduce(0) { $0 << 8 | ($1 < part.count ? Int(part[start + $1]) : 0) }
      for digit in 0..<4 {
        text.append(digit <= part.count ? alphabet[value >> (18 - 6 * digit) & 63] : "=")
      }
    }
    return text
  }
}

/// The script of the page, a file of `CPage`.
enum PageScript {
  /// The policy contains its hash.
  static let text = "\"use strict\";\n(() => {\n" + String(cString: cpage_script()) + "})();\n"
}

enum PageStyle {
  static let text = String(cString: cpage_style())
}
