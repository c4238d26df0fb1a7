import Testing

@testable import OpflowCommandLine

/// The words that can follow at the cursor, and their format for each shell.
struct CompletionTests {
  /// - Parameter line: words, the last of which is at the cursor.
  private func ask(_ line: String) -> CompletionQuestion {
    let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    return CompletionQuestion(Array(words.dropLast()), words.last ?? "")
  }

  @Test func `every command and every flag is offered`() {
    #expect(Set(ask("").words.map(\.word)) == Set(Command.allCases.map(\.word)))
    for command in Command.allCases {
      let flags = (command.flags + [.help]).map(\.spelled)
      #expect(ask("\(command.word) -").words.map(\.word) == flags, "\(command)")
    }
  }

  @Test func `the words that a flag takes are offered as its value, and nothing else`() {
    for command in Command.allCases {
      for flag in command.flags {
        guard case .choice(let words, _) = flag.row.takes else { continue }
        for line in [
          "\(command.word) \(flag.spelled) ", "\(command.word) \(flag.spelled)=",
        ] {
          let question = ask(line)
          #expect(question.words.map(\.word) == words(), "\(line)")
          #expect(question.kinds.isEmpty)
        }
      }
    }
  }

  @Test(
    arguments: [
      ("run ", [.tasks, .manifests]), ("run ci.yaml ", [.tasks]), ("run -f ci ", [.tasks]),
      ("run -- ", [.files]), ("run a -- ", [.files]), ("run --only ", [.tasks]),
      ("run --only=", [.tasks]), ("run -f ", [.files]), ("run -kf ", [.files]),
      ("run -C ", [.folders]),
      ("run --set ", []), ("-C ", [.folders]), ("-C sub run -f ", [.files]),
      ("resume ", [.runs, .manifests]),
      ("resume 2026 ", []), ("logs ", [.tasks]), ("logs --run ", [.runs, .manifests]),
      ("report ", []), ("report html ", [.runs, .manifests]), ("parallel ", [.resources]),
      ("priority ", [.tasks]), ("graph ", [.tasks, .manifests, .runs]), ("help ", []),
      ("help manifest ", [.manifestKeys]), ("nothing ", []), ("version ", []),
    ] as [(String, [CompletionQuestion.Kind])])
  func `what is looked for follows from what stands before`(
    _ line: String, _ kinds: [CompletionQuestion.Kind]
  ) {
    #expect(ask(line).kinds == kinds)
  }

  @Test func `a line says of which manifest, run and folder its tasks are`() {
    let question = ask("-C sub logs --run=2026 --state-dir s a")
    #expect(question.view.directory == "sub" && question.view.stateDirectory == "s")
    #expect(question.run == "2026" && question.isOfRun && question.stem == "a")
    #expect(ask("run -fa b").file == "a" && ask("run d/ b").file == "d/")
    let value = ask("run --only=db:u")
    #expect(value.prefix == "--only=" && value.stem == "db:u")
  }

  @Test(arguments: [
    ("opflow run db:u", "db:up", "up"), ("opflow run db:", "db:up", "up"),
    ("opflow run --only=db:u", "--only=db:up", "up"), ("opflow run we@h", "we@host", "@host"),
    ("opflow run \"db:u", "db:up", "db:up"), ("opflow run 'a b", "a b[c=d]", "a b[c=d]"),
    ("opflow run bu", "build[a=b,c]", "build\\[a=b,c\\]"),
    ("opflow run build[a=", "build[a=b]", "b\\]"),
    ("opflow run build\\[a=", "build[a=b]", "b\\]"), ("opflow -f my", "my file's", "my\\ file\\'s"),
    ("opflow -f 'it", "it's", "it'\\''s"), ("opflow -f \"a", "a\"$b", "a\\\"\\$b"),
    ("A=b opflow run l", "lint", "lint"), ("ls; opflow run l", "lint", "lint"),
    ("opflow -f ~/a", "~/a b", "~/a\\ b"),
  ])
  func `bash gets what it puts behind what stays`(_ line: String, _ word: String, _ rest: String) {
    let bash = BashLine(line, breaks: " \t\n\"'@><=;|&(:")
    #expect(bash.words.first == "opflow")
    #expect(word.hasPrefix(bash.current))
    #expect(bash.replacement(word) == rest)
    // Who has taken these out of COMP_WORDBREAKS gets whole words.
    if bash.quote == nil {
      #expect(BashLine(line, breaks: " \t\n\"'").replacement(word).hasSuffix(rest))
    }
  }

  @Test func `an answer says whether more follows in the word`() throws {
    let folder = CompletionCandidate("sub/", isOpen: true)
    let file = CompletionCandidate("sum", "a file")
    let zsh = try #require(CompletionRequest(["zsh", "--junit=su", "run"]))
    #expect(zsh.answer([folder]) == "open\n--junit=sub/\n")
    #expect(zsh.answer([folder, file]) == "closed\n--junit=sub/\n--junit=sum\ta file\n")
    let bash = try #require(CompletionRequest(["bash", "opflow run --junit=sub", "="]))
    #expect(bash.answer([folder, file]) == "open\nsub/\n")
    #expect(bash.answer([file]) == "")
    let fish = try #require(CompletionRequest(["fish", "\"a b\\\"", "run"]))
    #expect(fish.question.stem == "a b\"")
  }

  @Test(arguments: [[], ["bash"], ["bash", "opflow"], ["ksh", "a", "b"], ["bash", "", ""]])
  func `what no script asks is no question`(_ words: [String]) {
    #expect(CompletionRequest(words)?.question == nil)
  }
}
