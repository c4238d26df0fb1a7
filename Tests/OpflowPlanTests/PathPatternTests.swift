import OpflowBase
import OpflowPlan
import Testing

@Suite("Patterns on paths")
struct PathPatternTests {
  @Test(arguments: [
    ("*.c", ["a.c", ".c.c", "a/b.c", "c"], ["a.c"]),
    ("a/?.c", ["a/b.c", "a/bc.c", "b/a.c", "a/.c"], ["a/b.c"]),
    (
      "**/*.c", ["a.c", "a/b.c", "a/b/c.c", ".a/b.c", "a/.b/c.c", "a/.c"],
      ["a.c", "a/b.c", "a/b/c.c"]
    ),
    ("a/**", ["a/b", "a/b/c", "b", "a", "a/.b"], ["a/b", "a/b/c"]),
    (
      "**/a/**/b", ["a/b", "x/a/y/b", "a/a/b/b", "a/x", "x/b", ".x/a/b", "a/.x/b"],
      ["a/b", "x/a/y/b", "a/a/b/b"]
    ),
    ("**/.x/**/b", [".x/b", "a/.x/b", ".x/.x/b", ".x/a/b"], [".x/b", "a/.x/b", ".x/a/b"]),
    ("a/**/", ["a", "a/b", "a/b/c", "b", "a/.b"], ["a", "a/b", "a/b/c"]),
    ("[!a]/[[]", ["b/[", "a/[", "b/a"], ["b/["]),
    (#"\*.c"#, ["*.c", "a.c", #"\*.c"#], ["*.c"]),
    (#"\?\[\\*"#, [#"?[\a"#, "?[a", #"a[\a"#], [#"?[\a"#]),
    (#"[*][?]*"#, ["*?", "*?a", "ab", "[*][?]*"], ["*?", "*?a"]),
    (#"a\b*"#, [#"a\bc"#, "abc", #"a\\bc"#], [#"a\bc"#]),
    (#"[\*\[]x"#, ["*x", "[x", #"\x"#, "ax"], ["*x", "[x"]),
    (#"\**"#, ["*", "*a", "a"], ["*", "*a"]),
    (#"\*\*/a"#, ["**/a", "b/a", "a"], ["**/a"]),
  ])
  func `paths fit that are written like the pattern`(
    _ pattern: String, _ paths: [String], _ fitting: [String]
  ) throws {
    let pattern = try #require(PathPattern(pattern))
    #expect(paths.filter { pattern.matches(Self.names(of: $0)) } == fitting)
  }

  @Test(arguments: [
    ("a*", "a"), ("*a", ""), ("?a", ""), ("ab[c]d", "ab"), ("äb?", "äb"), ("[a]b", ""),
    (".x*", ".x"),
  ])
  func `every name that fits begins with its beginning`(_ pattern: String, _ beginning: String)
    throws
  {
    let pattern = try #require(PathPattern(pattern))
    guard case .pattern(let names) = try #require(pattern.parts.first) else {
      Issue.record("it is none")
      return
    }
    #expect(names.beginning == Array(beginning.utf8))
  }

  private static func names(of path: String) -> [[UInt8]] {
    path.utf8.split(separator: UInt8(ascii: "/")).map { Array($0) }
  }

  @Test func `it is as if all ways to fit were tried`() throws {
    let patterns = ["**", "a", "*", ".x", "?"]
    let names = ["a", "b", ".x"]
    var chosen: [[String]] = [[]]
    for length in 0..<4 {
      chosen += chosen.filter { $0.count == length }.flatMap { start in
        patterns.map { start + [$0] }
      }
    }
    var paths: [[String]] = [[]]
    for length in 0..<4 {
      paths += paths.filter { $0.count == length }.flatMap { start in names.map { start + [$0] } }
    }
    for parts in chosen.dropFirst() {
      let pattern = try #require(PathPattern(parts.joined(separator: "/")))
      // What ends with it means all files below.
      let whole = parts.last == "**" ? parts + ["*"] : parts
      for path in paths {
        #expect(
          pattern.matches(path.map { Array($0.utf8) }) == fits(whole[...], path[...]),
          "\(parts) and \(path)")
      }
    }
  }

  @Test(arguments: [
    ("a*", "ab*"), ("*b", "*ab"), ("a*", "a*.o"), ("*.?", "*.o"), ("*a*", "a*b"),
    ("[a-d]*", "[ab]c"), ("[ab]", "a"), ("[!x]*", "[a-c]?"), ("[!x]", "[!w-z]"), ("*", "[a]"),
    ("?", "[!a]"), ("**", "*"), ("**/*.c", "a/*.c"), ("**/*.c", "**/a/*.c"), ("a/**", "a/**/b/*"),
    ("**/b*", "a/**/b"), ("a/*/**/", "a/b/"), (".*", ".a*"), ("**/.a/*", ".a/b"),
  ])
  func `a pattern covers another one that matches less`(_ outer: String, _ inner: String) throws {
    let (outer, inner) = (try #require(PathPattern(outer)), try #require(PathPattern(inner)))
    #expect(outer.covers(inner) && !inner.covers(outer))
  }

  @Test(arguments: [
    ("?*", "*?"), ("[ab]", "[a-b]"), ("[!bc]", "[^b-c]"), ("a*", "a**"), ("**", "**/*"),
  ])
  func `patterns that match the same cover each other`(_ one: String, _ other: String) throws {
    let (one, other) = (try #require(PathPattern(one)), try #require(PathPattern(other)))
    #expect(one.covers(other) && other.covers(one))
  }

  @Test(arguments: [
    ("a*", "*a"), ("*", ".*"), ("**/*", ".a/*"), ("a/**", "**"), ("[!a]", "[!b]"), ("a/*", "a/*/"),
    ("**/a", "**/a/*"), ("?", "*"),
  ])
  func `a pattern does not cover another one that matches something else`(
    _ outer: String, _ inner: String
  ) throws {
    #expect(try !#require(PathPattern(outer)).covers(#require(PathPattern(inner))))
  }

  @Test func `what a pattern covers it matches`() throws {
    let pieces = ["a", "b", ".", "*", "?", "[ab]", "[!a]", "[!.]", "/", "**/", "/**"]
    let letters = ["a", "b", ".", "/"]
    func texts(_ pieces: [String], upTo count: Int) -> [String] {
      var last = [""]
      return (0..<count).flatMap { _ in
        last = last.flatMap { start in pieces.map { start + $0 } }
        return last
      }
    }
    let names = texts(letters, upTo: 5).map { Self.names(of: $0) }.filter { !$0.isEmpty }
    let patterns = texts(pieces, upTo: 2).compactMap { PathPattern($0) }.filter {
      !$0.parts.isEmpty
    }
    let matches = patterns.map { pattern in names.map { pattern.fits($0) } }
    for (outer, own) in zip(patterns, matches) {
      for (inner, others) in zip(patterns, matches) where outer.covers(inner) {
        #expect(!zip(own, others).contains { !$0 && $1 }, "\(outer.parts) \(inner.parts)")
      }
    }
  }

  private func fits(_ parts: ArraySlice<String>, _ names: ArraySlice<String>) -> Bool {
    guard let part = parts.first else { return names.isEmpty }
    if part == "**", fits(parts.dropFirst(), names) { return true }
    guard let name = names.first else { return false }
    if part == "**" { return !name.hasPrefix(".") && fits(parts, names.dropFirst()) }
    let isFit =
      switch part {
      case "*": !name.hasPrefix(".")
      case "?": name.count == 1
      default: name == part
      }
    return isFit && fits(parts.dropFirst(), names.dropFirst())
  }

  @Test func `it takes no longer with each of many stars`() throws {
    let pattern = try #require(
      PathPattern(Array(repeating: "**/a", count: 100).joined(separator: "/") + "/b"))
    #expect(!pattern.matches(Array(repeating: Array("a".utf8), count: 2000)))
  }

  @Test func `the name that is written fits as well, with its escapes undone`() throws {
    let pattern = try #require(PathPattern(#"app/[slug]/\*.tsx"#))
    for (path, isFit) in [
      ("app/[slug]/*.tsx", true), ("app/s/*.tsx", true), ("app/s/a.tsx", false),
      ("app/[slu]/*.tsx", false), (#"app/[slug]/\*.tsx"#, false), ("[slug]/*.tsx", false),
    ] {
      #expect(pattern.matches(Self.names(of: path)) == isFit, "\(path)")
    }
    #expect(!pattern.fits(Self.names(of: "app/[slug]/*.tsx")))
  }

  @Test func `a byte that is not UTF-8 is a character of its own`() throws {
    let name: [UInt8] = Array("caf".utf8) + [0xE9]
    for (text, isFit) in [
      ("*", true), ("caf?", true), ("caf[!a]", true), ("c*", true), ("caf", false),
      ("caf??", false), ("caf[a-\u{10FFFF}]", false), ("caf\u{FFFD}", false), ("*é", false),
    ] {
      #expect(try #require(PathPattern(text)).fits([name]) == isFit, "\(text)")
    }
    #expect(try #require(PathPattern("??é?")).fits([[0xE2, 0x82] + Array("éa".utf8)]))
    #expect(NameCharacters.text(name + Array("é/x".utf8) + [0xC3]) == #"caf\xe9é/x\xc3"#)
  }

  @Test(arguments: [
    (#"a\*b"#, "a*b"), ("a[*]b[[]", "a*b["), (#"\\x"#, #"\x"#), (#"a\b\"#, #"a\b\"#), ("a]", "a]"),
  ])
  func `what is written with escapes alone is a name`(_ text: String, _ name: String) {
    Array(text.utf8).withUnsafeBytes {
      #expect(!PathPattern.isPattern($0))
      #expect(PathPattern.name(of: $0) == Array(name.utf8))
    }
  }

  @Test(arguments: [("a*", true), ("?", true), ("[a]", true), ("a/b", false), ("{a,b}]", false)])
  func `what has no star, no question mark and no bracket is a path`(
    _ text: String, _ isPattern: Bool
  ) {
    #expect(Array(text.utf8).withUnsafeBytes { PathPattern.isPattern($0) } == isPattern)
  }
}
