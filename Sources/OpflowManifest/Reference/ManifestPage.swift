internal import OpflowBase

/// The manual page opflow.yaml(5).
package enum ManifestPage {
  /// - Parameter date: `2026-12-31`, or empty.
  package static func text(date: String) -> String {
    var page = RoffText("OPFLOW.YAML", section: 5, date: date)
    page.name("opflow.yaml", "tasks for opflow")
    page.section("DESCRIPTION")
    page.paragraphs(
      """
      A manifest is a YAML file that declares tasks and their dependencies. opflow(1) runs it.
      `opflow check` finds its errors, `opflow plan` shows which tasks would run.
      """)
    page.section("EXAMPLE")
    page.example(String(FirstManifest.text.dropLast()))
    for map in KeyMap.allCases where map != .defaults {
      page.section(map == .manifest ? "KEYS AT THE TOP LEVEL" : "KEYS OF " + title(map))
      for row in map.keys { add(row, to: &page) }
    }
    page.section("VALUES")
    page.paragraphs(
      """
      Durations are 500ms, 10s, 5m, 2h or 1h30m; a bare number is seconds. Sizes are 512MiB, 2GiB
      or 1.5GB; a bare number is bytes. A value of any type can be an expression:
      ${{ vars.NAME }}.
      """)
    page.section("SEE ALSO")
    page.paragraphs("opflow(1)")
    return page.text
  }

  private static func title(_ map: KeyMap) -> String {
    map.place.uppercased().replacing("`", with: "")
  }

  private static func add(_ row: KeyRow, to page: inout RoffText) {
    let standard = row.standard.isEmpty ? "" : " Default: \(row.standard)."
    page.item(row.name.description, "\(row.meaning). Value: \(row.takes.words).\(standard)")
  }
}

/// The manual's key tables in Markdown.
package enum KeyTableText {
  package static var names: [String] { KeyMap.allCases.map(\.rawValue) }

  /// Returns nil for an unknown name.
  package static func table(_ name: String) -> String? {
    guard let map = KeyMap(rawValue: name) else { return nil }
    var text = "| key | takes | default | meaning |\n| --- | --- | --- | --- |\n"
    for row in map.keys {
      let cells = ["`\(row.name)`", row.takes.words, row.standard, row.meaning]
      text += "|" + cells.map { $0.isEmpty ? " |" : " \($0) |" }.joined() + "\n"
    }
    return text
  }
}
