import OpflowBase
import OpflowPlan
import OpflowViews
import Testing

@Suite struct ViewTextTests {
  @Test(arguments: [
    ("plain\ttext", "plain\ttext"),
    ("\u{1b}[31mred\u{1b}[0m", "red"),
    ("\u{1b}]0;title\u{07}x", "x"),
    ("\u{1b}]8;;http://a\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
    ("\u{1b}]unended", "unended"),
    ("\u{1b}(Bx", "x"),
    ("a\u{8}b\u{0}c\u{7f}d", "abcd"),
    ("é\u{85}ü", "éü"),
    ("10%\r20%\r", "20%"),
    ("text\r", "text"),
    ("a\u{202e}b", "ab"),
    ("a\u{200b}b\u{2028}c\u{2029}d\u{2060}e\u{206f}f\u{feff}g", "abcdefg"),
    ("x\u{e0041}\u{e007f}y", "xy"), ("👩\u{200d}💻 می\u{200c}خواهم", "👩\u{200d}💻 می\u{200c}خواهم"),
    ("\u{1b}", ""),
    ("\u{1b}[", ""),
  ])
  func `control characters never reach a view`(input: String, expected: String) {
    #expect(CleanText.string(input) == expected)
  }

  @Test(arguments: [
    ("\u{1b}[31mred\u{1b}[0m x", "\u{1b}[31mred\u{1b}[0m x"),
    ("\u{1b}[1;38;5;196mred", "\u{1b}[1;38;5;196mred\u{1b}[0m"),
    ("\u{1b}[38:2::255:0:0mred\u{1b}[m", "\u{1b}[38:2::255:0:0mred\u{1b}[m"),
    ("\u{1b}[4:3mx", "\u{1b}[4:3mx\u{1b}[0m"),
    ("\u{1b}[31m10%\r\u{1b}[32m20%", "\u{1b}[32m20%\u{1b}[0m"),
    ("text\r\u{1b}[0m", "text\u{1b}[0m"),
    ("\u{1b}[>4;2mx", "x"), ("\u{1b}[?4mx", "x"), ("\u{1b}[1 mx", "x"),
    ("\u{1b}[31Kx", "x"), ("\u{1b}[2J\u{1b}[1;1Hx", "x"), ("\u{9b}31mx", "31mx"),
    ("\u{1b}[31", ""), ("\u{1b}]0;\u{1b}[31m\u{7}x", "x"),
  ])
  func `colours pass where they are shown, and end with the line`(input: String, expected: String) {
    var bytes: [UInt8] = []
    Array(input.utf8).withUnsafeBytes { CleanText.append($0, keepsColors: true, to: &bytes) }
    #expect(String(decoding: bytes, as: UTF8.self) == expected)
  }

  @Test func `of what a task prints a terminal acts on nothing but colours`() throws {
    var random = SystemRandomNumberGenerator()
    let texts = [
      "\u{1b}", "\u{1b}[", "[", "m", "31", ";", ":", "?", ">", "\u{1b}]", "\u{7}", "\u{1b}\\",
      "\u{1b}P", "\r", "\u{8}", "\u{9b}", "\u{9d}", "\u{85}", "\u{202e}", "\u{2028}", "A", "J",
      "x", " ", "\t", "é", "\u{1b}[31m", "\u{1b}[m", "\u{1b}c", "\u{e}", "\u{1b}(0",
    ]
    let pieces: [[UInt8]] = texts.map { Array($0.utf8) } + [[0x9B], [0xFF], [0]]
    let color = #/\x{1b}\[[0-9;:]*m/#
    for _ in 0..<5000 {
      var line: [UInt8] = []
      for _ in 0..<Int.random(in: 1...24, using: &random) {
        line += pieces[Int.random(in: 0..<pieces.count, using: &random)]
      }
      var bytes: [UInt8] = []
      line.withUnsafeBytes { CleanText.append($0, keepsColors: true, to: &bytes) }
      let text = String(decoding: bytes, as: UTF8.self)
      let plain = text.replacing(color, with: "").unicodeScalars
      #expect(
        plain.allSatisfy { $0 == "\t" || $0.value >= 32 && !(127...159).contains($0.value) },
        "\(line)")
      if let last = text.matches(of: color).last?.output {
        #expect(last == "\u{1b}[m" || last.contains(#/\[0+m/#), "\(line)")
      }
    }
  }

  @Test func `bytes that are no UTF-8 become replacement characters`() {
    var bytes: [UInt8] = []
    let input: [UInt8] = [0x61, 0xFF, 0x62, 0xC3]
    input.withUnsafeBytes { CleanText.append($0, to: &bytes) }
    #expect(String(decoding: bytes, as: UTF8.self) == "a\u{FFFD}b\u{FFFD}")
  }

  @Test(
    arguments: [
      (-5, "0.00s"), (0, "0.00s"), (123, "0.12s"), (999, "0.99s"), (1000, "1.0s"),
      (59_999, "59.9s"), (60_000, "1m00s"), (3_599_000, "59m59s"), (3_600_000, "1h00m"),
      (90_000_000, "1d01h"),
    ] as [(Int64, String)])
  func `durations are short`(milliseconds: Int64, expected: String) {
    #expect(DurationText.text(milliseconds: milliseconds) == expected)
  }

  @Test func `an outcome names its cause`() {
    #expect(OutcomeText.text(Outcome(status: .exit(3))) == "exit 3")
    #expect(OutcomeText.text(Outcome(status: .signal(11))) == "signal 11 (SEGV)")
    #expect(OutcomeText.text(Outcome(status: .signal(40))) == "signal 40")
    #expect(OutcomeText.text(Outcome(status: .exit(0), reason: .timeout)) == "timeout")
    #expect(
      OutcomeText.text(
        Outcome(status: .unknown, reason: .refused, errorNumber: 2),
        detail: "cannot enter /no: No such file or directory")
        == "could not start: cannot enter /no: No such file or directory")
    #expect(
      OutcomeText.text(Outcome(status: .unknown, reason: .refused, errorNumber: 2))
        == "could not start: no such file or directory")
    #expect(
      OutcomeText.text(Outcome(status: .unknown, reason: .workerLost), detail: "it said no\nline 2")
        == "its worker was lost: it said no")
  }

  @Test func `what is long and hidden leaves a mark, so that nothing is joined over it`() {
    let nuls = String(repeating: "\0", count: 1001)
    #expect(CleanText.string("a\(nuls)b") == "a…b")
    #expect(CleanText.string("a\(nuls.dropLast())b") == "ab")
    #expect(CleanText.string("a\u{1b}]0;\(nuls)\u{7}b\u{1b}[1mc") == "a…bc")
    #expect(CleanText.string("a\(nuls)\rb") == "b")
    #expect(CleanText.string("a\(nuls)") == "a")
  }
}
