import Foundation
import Testing

@testable import OpflowManifest

/// The table of the manifest's keys, and the texts that are made from it.
struct KeyTableTests {
  private static let manual =
    #filePath.components(separatedBy: "/Tests/")[0] + "/Sources/opflow/opflow.docc/"

  /// Returns the lines behind `<!-- keys: NAME -->`. The keys of `defaults` are in the table of a
  /// task, so the manual only lists their names.
  private static func table(_ name: String) -> String? {
    if name == KeyMap.defaults.rawValue {
      return KeyMap.defaults.keys.map { "`\($0.name)`" }.joined(separator: ", ")
    }
    return KeyTableText.table(name).map { String($0.dropLast()) }
  }

  /// With OPFLOW_UPDATE_GOLDEN in the environment this test writes the tables of the manual, as
  /// `scripts/update-golden` asks.
  @Test func `the tables of the manual match the table of keys`() throws {
    var found: [String] = []
    for page in try FileManager.default.contentsOfDirectory(atPath: Self.manual)
    where page.hasSuffix(".md") {
      let text = try String(contentsOfFile: Self.manual + page, encoding: .utf8)
      var lines: [String] = []
      var isOfTable = false
      for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
        if isOfTable, line.hasPrefix("|") || line.hasPrefix("`") { continue }
        isOfTable = false
        lines.append(line)
        guard line.hasPrefix("<!-- keys: ") else { continue }
        let name = String(line.dropFirst(11).dropLast(4))
        lines.append(try #require(Self.table(name), "\(page): \(line)"))
        found.append(name)
        isOfTable = true
      }
      let made = lines.joined(separator: "\n")
      if ProcessInfo.processInfo.environment["OPFLOW_UPDATE_GOLDEN"] == nil {
        #expect(made == text, "\(page): run scripts/update-golden")
      } else if made != text {
        try made.write(toFile: Self.manual + page, atomically: true, encoding: .utf8)
      }
    }
    #expect(found.sorted() == KeyTableText.names.sorted())
  }

  @Test(arguments: KeySample.examples)
  func `an example is right`(_ sample: KeySample) {
    let found = errors(
      in: sample.text, environment: [("TOKEN", "abcdefgh")], files: KeySample.files)
    #expect(found == [], "\(sample.text)")
  }

  @Test func `a reader accepts exactly the values of the table`() {
    var known = 0
    for sample in KeySample.all {
      guard let isRight = sample.isRight else { continue }
      known += 1
      let found = errors(
        in: sample.text, environment: [("TOKEN", "abcdefgh")], files: KeySample.files)
      #expect(found.isEmpty == isRight, "\(sample.name): \(found)\n\(sample.text)")
    }
    #expect(known > 2000)
  }

  @Test func `every key has help`() throws {
    for name in ManifestReference.names {
      let help = try ManifestReference.help(on: name)
      #expect(help.contains("  takes  ") && help.contains("  example  "), "\(name)")
      #expect(ManifestReference.list.contains("\n  \(name) "), "\(name)")
    }
    for line in ManifestReference.list.split(separator: "\n") { #expect(line.count <= 80) }
  }

  @Test func `help on a key has its type and its meaning`() throws {
    #expect(
      try ManifestReference.help(on: "retry.max") == """
        max, in `retry`:
          Retries after the first attempt

          takes     whole number from 0
          default   0; 3 for a download
          example   max: 3

        """)
    #expect(try ManifestReference.help(on: "retry").contains("\n    max_delay "))
    #expect(
      try ManifestReference.help(on: "secrets.env").hasPrefix("env, in an entry of `secrets`"))
  }

  @Test func `no text about a key has a word that the glossary replaces`() {
    let banned: Set<Substring> = [
      "leg", "legs", "family", "families", "mistake", "text", "texts", "words", "ids", "amounts",
      "sheet", "blank", "otherwise", "anew", "besides", "steer", "looks", "what", "tells",
    ]
    for row in KeyMap.allCases.flatMap(\.keys) {
      for text in [row.meaning, row.standard, row.takes.words] {
        #expect(text.split { !$0.isLetter }.filter(banned.contains) == [], "\(row.name): \(text)")
      }
    }
  }

  @Test func `a summary of a key has each of its meanings`() {
    #expect(
      ManifestReference.summary(of: "timeout") == """
        Manifest key (`opflow help manifest timeout` shows an example):
          timeout, in a task or `defaults`: Time limit of an attempt; then opflow stops
          it, and it has failed
          timeout, in `ready` of `service`: Time limit for becoming ready

        """)
    #expect(ManifestReference.foreignKey("depends_on") == "needs")
    #expect(ManifestReference.foreignKey("needs") == nil)
  }

  @Test(arguments: [
    ("depends_on", "no key `depends_on`; did you mean `opflow help manifest needs`?"),
    ("timeot", "no key `timeot`; did you mean `opflow help manifest timeout`?"),
    ("retry.timeout", "no key `retry.timeout`; did you mean `opflow help manifest timeout`?"),
    ("qwertzuiop", "no key `qwertzuiop`; `opflow help manifest` lists all"),
  ])
  func `an unknown key gets a suggestion`(_ word: String, _ message: String) {
    #expect(throws: UnknownKey.self) { try ManifestReference.help(on: word) }
    do { _ = try ManifestReference.help(on: word) } catch { #expect(error.message == message) }
  }
}
