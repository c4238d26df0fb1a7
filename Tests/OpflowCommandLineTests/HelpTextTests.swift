import OpflowBase
import Testing

@testable import OpflowCommandLine

@Suite struct HelpTextTests {
  private static let all = Command.allCases.map(\.word) + [HelpText.controlTopic]

  /// Every text of help but those of the manifest's keys.
  private static var texts: [String] {
    let commands = all.flatMap { word in
      [false, true].compactMap { HelpText.command(word, isLong: $0) }
    }
    let terms = (Glossary.terms + Glossary.placeholders).compactMap {
      HelpText.term($0.name, isBelow: false)
    }
    let flags = Flag.listed.compactMap { HelpText.flag($0.spelled) }
    return commands + terms + flags
      + [HelpText.program(), HelpText.program(isLong: true), CommandPage.text(date: "")]
  }

  private func lines(_ text: String) -> [Substring] {
    text.split(separator: "\n", omittingEmptySubsequences: false)
  }

  @Test func `the help of the program is one screen`() {
    let text = HelpText.program()
    #expect(lines(text).count <= 40)
    #expect(text.hasSuffix("\n") && !text.contains("\n\n\n"))
    for line in lines(text) { #expect(line.count <= 80, "\(line)") }
    for heading in CommandGroup.allCases { #expect(text.contains("\n\(heading.rawValue):\n")) }
    let listed = Command.allCases.filter { text.contains("\n  \($0.word) ") }
    #expect((10...14).contains(listed.count))
    // Each other command is named, or in the help that is named.
    let control = HelpText.command(HelpText.controlTopic, isLong: false)
    #expect(text.contains("`opflow help control`"))
    let more = lines(text).first { $0.hasPrefix("More commands: ") } ?? ""
    for command in Command.allCases where !listed.contains(command) {
      #expect(
        more.split { !$0.isLetter }.contains(Substring(command.word))
          || control?.contains("\n  \(command.word) ") == true, "\(command)")
    }
  }

  @Test(arguments: all)
  func `the help of a command fits a terminal`(_ word: String) throws {
    let short = try #require(HelpText.command(word, isLong: false))
    #expect(lines(short).count <= 40)
    for text in [short, try #require(HelpText.command(word, isLong: true))] {
      #expect(text.hasSuffix("\n") && !text.contains("\n\n\n"))
      for line in lines(text) { #expect(line.count <= 80, "\(line)") }
    }
    guard let command = Command(named: word) else { return }
    for isLong in [false, true] {
      #expect(
        HelpText.command(word, isLong: isLong)?.hasPrefix(
          "\(command.row.summary).\n\nUsage: opflow \(command.synopsis)\n") == true)
    }
    #expect(short.contains("`opflow help \(word) -v` shows"))
  }

  @Test(arguments: Command.allCases)
  func `a command has three examples, which the parser accepts`(_ command: Command) throws {
    #expect(command.row.examples.count == 3)
    for example in command.row.examples {
      #expect(example.meaning.count <= 80)
      var isOfOpflow = false
      for part in example.command.split(whereSeparator: { "|&$()\"".contains($0) }) {
        var words = Self.words(String(part))
        guard words.first == "opflow" else { continue }
        words.removeFirst()
        #expect(throws: Never.self, "\(example.command)") { try CommandLineParser.parse(words) }
        isOfOpflow = true
      }
      #expect(isOfOpflow, "\(example.command)")
    }
  }

  /// Splits a command line at spaces, except in quotes, and omits redirections.
  private static func words(_ line: String) -> [String] {
    var words: [String] = []
    var isQuoted = false
    var isOpen = false
    for character in line {
      if character == "'" {
        isQuoted.toggle()
      } else if character == " ", !isQuoted {
        isOpen = false
      } else {
        if !isOpen { words.append("") }
        isOpen = true
        words[words.count - 1].append(character)
      }
    }
    return Array(words.prefix { $0 != ">" && $0 != "<" })
  }

  @Test func `a short help has at most ten flags, all of them the command's`() {
    for command in Command.allCases {
      let row = command.row
      let common = row.common ?? row.flags
      #expect(common.count <= 10, "\(command)")
      #expect(common.allSatisfy(row.flags.contains), "\(command)")
    }
  }

  @Test func `every command, flag and term is found`() {
    for word in Self.all { #expect(HelpText.command(word, isLong: false) != nil) }
    for flag in Flag.listed {
      let row = flag.row
      for word in [row.long.map { "--\($0)" }, row.letter.map { "-\($0)" }, row.long] {
        guard let word else { continue }
        let text = HelpText.flag(word)
        #expect(text?.contains(row.spelling + "\n") == true, "\(word)")
        #expect(text?.contains("Flag of: ") == true)
      }
    }
    #expect(HelpText.flag("-j4") == HelpText.flag("-j"))
    #expect(HelpText.flag("--set=a=b") == HelpText.flag("--set"))
    #expect(HelpText.flag("-kn") == nil && HelpText.flag("--kep") == nil)
    #expect(HelpText.flag("--control-fd") == nil)
    for term in Glossary.terms + Glossary.placeholders {
      for word in [term.name, term.name.uppercased(), term.name.replacing(" ", with: "-")] {
        #expect(HelpText.term(word, isBelow: false) != nil, "\(word)")
      }
    }
    #expect(HelpText.term("sessions", isBelow: false)?.hasPrefix("session: ") == true)
  }

  @Test func `an unknown word is answered with the nearest one`() {
    func hint(_ word: String) -> String {
      HelpText.hint(word, meantKey: nil, keys: ["timeout"])
    }
    #expect(hint("satus") == "did you mean `opflow help status`?")
    #expect(hint("sesion") == "did you mean `opflow help session`?")
    #expect(hint("timeot") == "did you mean `opflow help timeout`?")
    #expect(hint("--rernu") == "did you mean `opflow help --rerun`?")
    #expect(hint("list") == "`opflow tasks` lists the tasks, `opflow runs` the runs")
    for word in ["nope", "", "-x", "a b c", String(repeating: "x", count: 5000)] {
      #expect(hint(word) == "`opflow help` lists the commands")
    }
  }

  @Test func `terms are sorted and short`() {
    let names = Glossary.terms.map(\.name)
    #expect(names == names.sorted())
    #expect(Set(names).count == names.count)
    for term in Glossary.terms {
      #expect(term.meaning.split(separator: " ").count <= 24, "\(term.name)")
      #expect(term.meaning.hasSuffix("."))
    }
  }

  /// Words that the glossary of the project replaces, and words of unclear sentences.
  private static let banned: Set<Substring> = [
    "drive", "drives", "leg", "legs", "family", "families", "mistake", "mistakes", "slip", "slips",
    "ring", "site", "sites", "lease", "seat", "holdup", "void", "unkept", "fold", "folds", "folded",
    "sheet", "blank", "blanks", "upstream", "reused", "otherwise", "anew", "besides", "lane",
    "lanes", "crew", "pace", "adder", "withdraw", "steer", "looks", "what", "tell", "tells", "told",
  ]
  private static let bannedPhrases = [
    "goes on", "go on", "is no ", "are no ", "is none", "are none", "nothing that",
  ]

  @Test func `no text has a word that the glossary replaces`() {
    for text in Self.texts {
      let words = text.lowercased().split { !$0.isLetter }
      #expect(words.filter(Self.banned.contains) == [], "\(text)")
      let sentence = text.split { $0.isWhitespace }.joined(separator: " ")
      for phrase in Self.bannedPhrases { #expect(!sentence.contains(phrase), "\(text)") }
    }
  }

  @Test func `the help of run names each flag once`() throws {
    let text = try #require(HelpText.command("run", isLong: true))
    for flag in Command.run.flags + [.help] {
      let spelling = flag.row.spelling
      #expect(
        text.split(separator: "\n").count {
          $0.contains("  \(spelling) ") || $0.hasSuffix("  \(spelling)")
        } == 1, "\(spelling)")
    }
  }

  @Test func `a flag with all its values is named`() throws {
    let text = try #require(HelpText.command("run", isLong: true))
    for flag in [
      "--set NAME=VALUE", "--only SEL", "-j, --max-parallel N", "-k, --keep-going",
      "--output live|line|group|github|gitlab|quiet", "--notify COMMAND", "--ci-commands on|off",
      "--color auto|always|never", "--durability none|group|each", "--on NODES",
      "--queue-timeout D", "-f, --file FILE", "-C DIR", "--state-dir DIR", "-h, --help",
    ] { #expect(text.contains("  \(flag)"), "\(flag)") }
  }
}
