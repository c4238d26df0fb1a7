import Testing

@testable import OpflowBase

/// Checks in exact bytes which texts are masked.
struct MaskerTests {
  private func masked(_ text: String, _ secrets: String..., pieces: Int? = nil) throws -> String {
    let values = secrets.map { SecretValue(name: "S", bytes: Array($0.utf8)) }
    return String(decoding: try Masking.run(values, Array(text.utf8), pieces), as: UTF8.self)
  }

  /// Cuts at `|`.
  private func cut(_ text: String, _ secrets: String...) throws -> String {
    var masker = try #require(
      Masker(secrets.map { SecretValue(name: "S", bytes: Array($0.utf8)) }))
    var output: [UInt8] = []
    for piece in text.split(separator: "|", omittingEmptySubsequences: false) {
      Array(piece.utf8).withUnsafeBytes { masker.mask($0) { output.append(contentsOf: $0) } }
    }
    masker.finish { output.append(contentsOf: $0) }
    return String(decoding: output, as: UTF8.self)
  }

  @Test func `a value is masked at the beginning, in the middle, at the end and twice in a row`()
    throws
  {
    #expect(try masked("secrets", "secrets") == "***")
    #expect(try masked("ssecrets", "secrets") == "s***")
    #expect(try masked("at the secrets of", "secrets") == "at the *** of")
    #expect(try masked("secretssecrets", "secrets") == "******")
    #expect(try masked("no secret here", "secrets") == "no secret here")
  }

  @Test(arguments: [
    ("Sup3rSecretValu", "***"), ("x-Sup3rSecretVa, sleep (2)", "x-***, sleep (2)"),
    ("4711 (Sup3rSecretVal, user root)", "4711 (***, user root)"),
    ("Sup3rSecretValue99 (2)", "*** (2)"), ("Sup3", "***"), ("Sup, Sup (2)", "Sup, Sup (2)"),
    ("ab, cdefghijklm", "***"), ("ab, cdef, sleep", "***, sleep"), ("ab, cx", "ab, cx"),
  ])
  func `the name of a process that ends within a secret is masked`(names: String, shown: String)
    throws
  {
    let secrets = ["Sup3rSecretValue99", "ab, cdefghijklmnop"]
    let masker = try #require(
      Masker(secrets.map { SecretValue(name: "S", bytes: Array($0.utf8)) }))
    #expect(masker.masked(names: names) == shown)
  }

  @Test func `quotes in a row are undone as dash writes them`() throws {
    for (value, quoted) in [
      ("it's secret", #"'it'"'"'s secret'"#), ("two '' quotes", #"'two '"''"' quotes'"#),
      ("and ''' three", #"'and '"'''"' three'"#), ("at end ''", #"'at end '"''"''"#),
    ] {
      for pieces in [1, 2, 5, 100] {
        let masked = try masked("S=\(quoted).", value, pieces: pieces)
        #expect(!masked.contains("t") && masked.contains("***"), "\(masked)")
      }
    }
    let many = String(repeating: "'", count: 1000)
    #expect(try masked("'\"\(many)\"'", "it's secret") == "'\"\(many)\"'")
  }

  @Test func `a line of several is masked in every encoding`() throws {
    let secret = "first line/of+it\nshort\r\nsecond=line?of:it"
    func base64(_ text: String, before: Int = 0) -> String {
      let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
      let bytes = Array(repeating: UInt8(ascii: "x"), count: before) + Array(text.utf8)
      return String(decoding: SecretWords.base64(bytes, alphabet), as: UTF8.self)
    }
    for line in ["first line/of+it", "second=line?of:it"] {
      let hex = line.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
      #expect(try masked("<\(hex)>", secret) == "<***>")
      #expect(try masked("<\(hex.uppercased())>", secret) == "<***>")
      #expect(try masked("<\(base64(line))>", secret) == "<***>")
      #expect(try masked("<\(base64(line, before: 3))>", secret) == "<eHh4***>")
      #expect(try masked("<\(base64(line, before: 1))>", secret).dropFirst(3).hasPrefix("***"))
      #expect(
        try masked(line.map { "%" + String($0.asciiValue!, radix: 16) }.joined(), secret) == "***")
    }
    #expect(try masked("c2hvcnQ short 73686f7274", secret) == "c2hvcnQ short 73686f7274")
  }

  @Test func `lines beyond the bound are masked as they stand`() throws {
    let lines = (0..<SecretWords.mostEncodedLines + 1).map { "line-number-\($0)" }
    let words = SecretWords.words(of: [Array(lines.joined(separator: "\n").utf8)])
    let last = Array("line-number-\(SecretWords.mostEncodedLines)".utf8)
    #expect(words.last == last)
    #expect(words.count < 12 * SecretWords.mostEncodedLines)
  }

  @Test func `a value is found in what people see of a line`() throws {
    let red = "\u{1b}[31m"
    #expect(
      try masked("a \(red)se\u{1b}[1;4mcrets\u{1b}[m b", "secrets") == "a \(red)***\u{1b}[m b")
    #expect(try masked("s\0e\u{8}c\u{202e}rets", "secrets") == "***")
    #expect(try masked("sec\u{1b}]8;;a\u{7}rets", "secrets") == "***")
    // Only the beginning of an unfinished escape is hidden.
    #expect(try masked("sec\u{1b}]rets\n", "secrets") == "***\n")
    #expect(try masked("sec\u{1b}]rets", "secrets") == "***")
    #expect(try masked("sec\u{1b}]x\u{7}r\u{1b}]0;y", "secrets") == "sec\u{1b}]x\u{7}r\u{1b}]0;y")
    #expect(try masked("sec\tret é ° — s", "secrets") == "sec\tret é ° — s")
  }

  @Test func `a value that is not UTF-8 is masked in names as messages have them`() throws {
    let secret = SecretValue(name: "S", bytes: Array("s".utf8) + [0xE9] + Array("cret".utf8))
    let masker = try #require(Masker([secret]))
    #expect(masker.masked("xs\u{FFFD}cret, s\\xe9cret") == "x***, ***")
  }

  @Test(arguments: ["\n", "\u{1b}[m"])
  func `what is held back is bounded, however much stands for nothing`(gap: String) throws {
    var masker = try #require(Masker([SecretValue(name: "S", bytes: Array("secrets".utf8))]))
    var count = 0
    let bytes = Array(String(repeating: gap, count: 65_536 / gap.utf8.count).utf8)
    Array("secre".utf8).withUnsafeBytes { masker.mask($0) { count += $0.count } }
    for _ in 0..<20 { bytes.withUnsafeBytes { masker.mask($0) { count += $0.count } } }
    let held = 5 + 20 * bytes.count - count
    #expect(held <= (1 << 20) + 2 * bytes.count)
    #expect(count > 0)
    masker.finish { count += $0.count }
    #expect(count == 5 + 20 * bytes.count)
  }

  @Test(arguments: [
    ("it is secrets.", true), ("it is c2VjcmV0cw==.", true), ("sec\u{1b}[mrets", true),
    ("secret s", false), ("", false),
  ])
  func `whether a text holds a value is known as it is masked`(_ text: String, _ holds: Bool) throws
  {
    let masker = try #require(Masker([SecretValue(name: "S", bytes: Array("secrets".utf8))]))
    #expect(masker.finds(text) == (masker.masked(text) != text))
    let long = try #require(Masker([SecretValue(name: "S", bytes: Array("secrets8".utf8))]))
    for masker in [masker, long] {
      #expect(masker.finds(text) == (masker.masked(text) != text))
    }
    if !text.contains("=") { #expect(masker.finds(text) == holds) }
  }

  @Test func `a value is masked wherever the stream is cut`() throws {
    #expect(try cut("secret|s", "secrets") == "***")
    #expect(try cut("s|ecrets", "secrets") == "***")
    #expect(try cut("s|secrets", "secrets") == "s***")
    #expect(try cut("s|e|c|r|e|t|s|", "secrets") == "***")
    #expect(
      try cut("prefix_mask mask pre|fix_|mask pref|ix_ma|sk mas|k", "mask", "prefix_mask")
        == "*** *** *** *** ***")
    #expect(try cut("sp|lit al|l val|ues", "split", "values") == "*** all ***")
  }

  @Test func `one mark stands for values that overlap`() throws {
    #expect(
      try cut("this is the en| foobar", "this is the end", "en foobar", "en f") == "this is the ***"
    )
    #expect(try masked("aaaaaaaaa", "aaaaaaaa") == "***")
    #expect(try masked("abcdefgh", "abcdef", "cdefgh") == "***")
    #expect(try masked("abcdefghij", "cdef", "abcdefghij") == "***")
  }

  @Test func `what may still become a secret is held back until it cannot, and no longer`() throws {
    var masker = try #require(Masker([SecretValue(name: "S", bytes: Array("hunter2".utf8))]))
    func take(_ text: String) -> String {
      var output: [UInt8] = []
      Array(text.utf8).withUnsafeBytes { masker.mask($0) { output.append(contentsOf: $0) } }
      return String(decoding: output, as: UTF8.self)
    }
    #expect(take("a line\n") == "a line\n")
    #expect(take("the hun") == "the ")
    #expect(take("t") == "")
    #expect(take("ing") == "hunting")
    #expect(take("hunter") == "")
    #expect(take("2 a") == "*** a")
    #expect(take("hunter") == "")
    var rest: [UInt8] = []
    masker.finish { rest.append(contentsOf: $0) }
    #expect(rest.elementsEqual("hunter".utf8))
    // The next bytes belong to another stream.
    #expect(take("2\n") == "2\n")
  }

  @Test func `each line of eight bytes or more is masked by itself, shorter ones are not`() throws {
    let key = "-----BEGIN KEY-----\nMIIEpAIBAAKCAQEA\r\nshort\n-----END KEY-----\n"
    #expect(try masked("cat: \(key)done", key) == "cat: ***\ndone")
    #expect(
      try masked("> -----BEGIN KEY-----\n> MIIEpAIBAAKCAQEA\n> short\n", key)
        == "> ***\n> ***\n> short\n")
    #expect(try masked("e { f }", "{\n  \"a\": 1\n}") == "e { f }")
  }

  @Test func `blanks around a line, and more than one in a row, are not needed to find it`() throws
  {
    let key = "{\n  \"id\": \"f871b60d\",\n\t\"x\":   \"0617be19\"\t\n        }\n"
    #expect(try masked("{ \"id\": \"f871b60d\", \"x\": \"0617be19\" }", key) == "***")
    #expect(
      try masked("\"id\": \"f871b60d\",\n\"x\": \"0617be19\"\n", key) == "***\n***\n")
    #expect(try masked("    \"x\":   \"0617be19\"", key) == "    ***")
    #expect(try masked("XCJmODcxYjYwZCJ9", "  \"f871b60d\" \n short").hasPrefix("XC***"))
    // The rest of a line is too short to be masked by itself.
    #expect(try masked("        }", key) == "        }")
    #expect(try masked("[two words]", " two  words\t") == "[***]")
    #expect(try masked("a b", "a       b") == "a b")
  }

  @Test func `a line end at the end of a value is not needed to find it`() throws {
    #expect(try masked("[hunter2!]", "hunter2!\n") == "[***]")
    #expect(try masked("[abcd]", "abcd\n") == "[***]")
  }

  @Test func `a value of less than eight bytes is masked as it stands only`() throws {
    #expect(try masked("a<b&c a&lt;b&amp;c a%3Cb%26c", "a<b&c") == "*** a&lt;b&amp;c a%3Cb%26c")
    #expect(try masked("1234567 MTIzNDU2Nw==", "1234567") == "*** MTIzNDU2Nw==")
    #expect(try masked("12345678 MTIzNDU2Nzg=", "12345678") == "*** ***")
  }

  @Test(arguments: [
    "hunter2's \"pa$s\"", "hunter2\u{27}s%20\u{22}pa$s\u{22}",
  ])
  func `a value is masked in the words of programs`(secret: String) throws {
    for form in Encoding.forms(of: Array(secret.utf8)) {
      let text = "<" + String(decoding: form.bytes, as: UTF8.self) + ">"
      for pieces in [nil, 1, 2, 3, 7] {
        let result = try masked(text, secret, pieces: pieces)
        #expect(result == "<***>", "\(form.name) of \(secret) in pieces of \(pieces ?? 0)")
      }
    }
  }

  @Test func `base64 is masked whatever stands before and behind the value`() throws {
    let secret = "correct horse battery staple"
    for before in 0...3 {
      let text = [UInt8](repeating: 120, count: before) + Array(secret.utf8) + Array("yz".utf8)
      let whole = Encoding.base64(text, url: false)
      let output = try Masking.run(
        [SecretValue(name: "S", bytes: Array(secret.utf8))], whole, nil)
      // At its ends digits that are not the value's alone.
      #expect(output.count <= 3 + 8, "\(String(decoding: output, as: UTF8.self))")
    }
  }

  @Test func `base64 and hexadecimal digits are masked across line breaks and indentation`() throws
  {
    let secret = "correct horse battery staple, and then some more of the same to fill lines"
    for encoded in [
      Encoding.base64(Array(secret.utf8), url: false), Encoding.hexadecimal(Array(secret.utf8), 32),
    ] {
      for width in [1, 7, 20, 64] {
        for end in ["\n", "\r\n", "\n    "] {
          let text = "<" + Encoding.broken(encoded, at: width, end) + ">"
          #expect(try masked(text, secret, pieces: 5) == "<***>", "\(width) \(end.utf8.count)")
        }
      }
    }
  }

  @Test func `what only begins as an escape stays as it is`() throws {
    let text = "100% done, a\\qb, &; &#; &#x; &nosuch; it's '\\ %zz %4 \\u12 \\ud83d \\x"
    for pieces in [nil, 1] { #expect(try masked(text, "hunter2hunter2", pieces: pieces) == text) }
  }

  @Test func `a long value is masked whole, and what only begins like it is not`() throws {
    let secret = String((0..<5000).map { "abcdefghijklmnopqrstuvwxyz"[$0 * $0 % 26] })
    #expect(try masked("<\(secret)>", secret, pieces: 100) == "<***>")
    let head = String(secret.prefix(4000))
    #expect(try masked("<\(head)!>", secret, pieces: 100) == "<\(head)!>")
    #expect(try masked("<\(head)\(secret)>", secret, pieces: 999) == "<\(head)***>")
    let periodic = String(repeating: "ab", count: 100) + "c"
    #expect(try masked("abab" + periodic, periodic, pieces: 9) == "abab***")
  }

  @Test func `a text is masked without touching the stream`() throws {
    var masker = try #require(Masker([SecretValue(name: "S", bytes: Array("hunter2".utf8))]))
    var output: [UInt8] = []
    Array("hun".utf8).withUnsafeBytes { masker.mask($0) { output.append(contentsOf: $0) } }
    #expect(masker.masked("ter2 hunter2 hun") == "ter2 *** hun")
    Array("ter2".utf8).withUnsafeBytes { masker.mask($0) { output.append(contentsOf: $0) } }
    #expect(output.elementsEqual("***".utf8))
  }

  @Test func `without secrets there is nothing to mask`() {
    #expect(Masker([]) == nil)
  }
}

extension String {
  fileprivate subscript(_ index: Int) -> Character { self[self.index(startIndex, offsetBy: index)] }
}
