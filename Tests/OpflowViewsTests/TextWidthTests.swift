import Testing

@testable import OpflowViews

@Suite struct TextWidthTests {
  @Test func `names that differ are cut where they are alike`() {
    func cut(_ names: [String], _ columns: Int) -> [String] {
      TextWidth.cutApart(names, to: columns)
    }
    let instances = ["test[color=red,shard=3]", "test[color=blue,shard=3]"]
    #expect(cut(instances, 30) == instances)
    #expect(cut(instances, 16) == ["test[c…red…rd=3]", "test[…blue…rd=3]"])
    #expect(Set(cut(instances, 6)).count == 2)
    #expect(cut(["build[long-name-of-one]", "other"], 10) == ["build…one]", "other"])
    #expect(Set(cut((1...40).map { "measure[sample=\($0),depth=30x]" }, 14)).count == 40)
    for columns in 0...24 {
      #expect(cut(instances, columns).allSatisfy { TextWidth.of($0) <= columns })
    }
  }

  @Test(arguments: [
    ("plain", "plain"), ("\tx", "        x"), ("a\tb", "a       b"),
    ("12345678\tb", "12345678        b"),
    ("宽\t|", "宽      |"), ("a\t\tb", "a               b"), ("x\t", "x       "),
  ])
  func `tabs lead to stops of eight columns`(text: String, expanded: String) {
    #expect(TextWidth.expandingTabs(text) == expanded)
  }
}
