import Testing

@testable import OpflowCore

@Suite struct TextWidthTests {
  @Test(arguments: [
    ("plain", "plain"), ("\tx", "        x"), ("a\tb", "a       b"),
    ("12345678\tb", "12345678        b"),
    ("宽\t|", "宽      |"), ("a\t\tb", "a               b"), ("x\t", "x       "),
  ])
  func `tabs lead to stops of eight columns`(text: String, expanded: String) {
    #expect(TextWidth.expandingTabs(text) == expanded)
  }
}
