import Foundation

/// A project whose tasks print secrets in every way and pass them to every feature that writes
/// files.
struct SecretProject {
  /// In manifest order.
  let secrets: [(name: String, bytes: [UInt8])]
  /// Byte strings that may not occur anywhere.
  let traces: [[UInt8]]
  private let folder: String
  private let program: String

  private static let letters = Array(
    "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789".utf8)

  init(folder: String, program: String, _ random: inout DrillNumbers) throws {
    self.folder = folder
    self.program = program
    let quotes = Array(#" '"\/$%+&<>;#"#.utf8) + Self.letters.prefix(8)
    secrets = [
      // Too short for its encodings to be masked.
      ("SHORT", Self.text(4, Self.letters, &random) + Array("#_".utf8)),
      ("TOKEN", Self.text(24, Self.letters, &random)),
      ("QUOTED", [81] + Self.text(30, quotes, &random) + [81]),
      ("BLANKS", Array(" \t".utf8) + Self.text(20, Self.letters, &random) + [32]),
      ("KEY", Array(Self.document(&random).utf8)),
    ]
    var traces: Set<[UInt8]> = []
    for (name, bytes) in secrets {
      for part in Self.parts(of: bytes) {
        let words = SecretSpeech.words(part, &random)
        for word in name == "SHORT" ? [words[0]] : words {
          for line in word.secret.split(separator: 10) where line.count >= 6 {
            traces.insert(Array(line))
          }
        }
      }
    }
    self.traces = traces.sorted { $0.lexicographicallyPrecedes($1) }
  }

  private static func text(
    _ count: Int, _ alphabet: [UInt8], _ random: inout DrillNumbers
  ) -> [UInt8] {
    (0..<count).map { _ in alphabet[random.below(alphabet.count)] }
  }

  /// Returns a document like the key of a service account.
  private static func document(_ random: inout DrillNumbers) -> String {
    func word(_ count: Int) -> String {
      String(decoding: text(count, letters, &random), as: UTF8.self)
    }
    return """
      {
        "type": "\(word(9))",
        "private_key_id":   "\(word(40))",
      \t"private_key": "-----BEGIN\\n\(word(64))\\n-----END\\n"
      }

      """
  }

  /// Returns each line of the value, without spaces around it.
  private static func parts(of bytes: [UInt8]) -> [[UInt8]] {
    bytes.split(separator: 10).map { line in
      let start = line.firstIndex { $0 != 32 && $0 != 9 } ?? line.endIndex
      let end = line.lastIndex { $0 != 32 && $0 != 9 }.map { $0 + 1 } ?? start
      return Array(line[start..<max(start, end)])
    }.filter { $0.count >= 6 }
  }

  // MARK: - Files

  /// Commands that print the variable `V`.
  private static let speeches = [
    #"echo $V"#, #"printf '%s\n' "$V""#, #"printf %s "$V" | base64"#,
    #"printf %s "$V" | base64 -w 0"#,
    #"printf 'x%s' "$V" | base64 >&2"#, #"printf %s "$V" | od -An -v -tx1 | tr -d ' \n'; echo"#,
    #"printf '%q\n' "$V""#, #"set -x; : "$V""#, #"env; export -p"#, #"no-such-program "$V""#,
    #"printf '%s\n' "$V" | sed 's/^[ \t]*//'"#, #"while read -r l; do echo "$l"; done <<< "$V""#,
    #"for ((i = 0; i < ${#V}; i++)); do printf %s "${V:i:1}" >&$((1 + i % 2)); done; echo"#,
    #"printf %s "$V" > "$OPFLOW_TMP/v"; cat "$OPFLOW_TMP/v" >&2"#, #"cat <<< "a $V b" | tac"#,
    #"ls -- "$V" || true"#, #"printf '\033[31m%s\033[m\n' "$V""#,
  ]

  private func speech(_ random: inout DrillNumbers) -> String {
    let name = secrets[random.below(secrets.count)].name
    let words = (0...random.below(3)).map { _ in
      "V=$\(name); export V; " + Self.speeches[random.below(Self.speeches.count)]
    }
    return words.map { "(\($0))" }.joined(separator: "; ")
  }

  /// Writes the manifest and its files. The values are in files that are not searched.
  func write(_ random: inout DrillNumbers) throws {
    for name in ["values", "named", "seen", "tmp"] {
      try FileManager.default.createDirectory(
        atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
    }
    for (name, bytes) in secrets { try put("values/\(name)", bytes) }
    // Inputs that are named after a secret.
    try put("named/a-\(String(decoding: secrets[1].bytes, as: UTF8.self))", [])
    var traced: [UInt8] = []
    for trace in traces { traced += trace + [10] }
    try put("traces", traced)
    try put("opflow.yaml", Array(manifest(&random).utf8))
    try put("good.yaml", Array("tasks:\n\(task("fine", &random))".utf8))
  }

  private func put(_ name: String, _ bytes: [UInt8]) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
  }

  private var names: String { secrets.map(\.name).joined(separator: ", ") }

  /// Returns a task that prints secrets, with further fields of its map.
  private func task(
    _ id: String, _ random: inout DrillNumbers, then script: String = "true", _ fields: String = ""
  ) -> String {
    """
      \(id):
        secrets: [\(names)]
        shell: [bash, -c]
        run: |
          \(speech(&random))
          \(script)
    \(fields)

    """
  }

  private func manifest(_ random: inout DrillNumbers) -> String {
    var text = "defaults: { retry: { max: 1, delay: 0 } }\nsecrets:\n"
    for (name, _) in secrets {
      let source =
        switch random.below(3) {
        case 0: "{ file: values/\(name) }"
        case 1: "{ run: [cat, values/\(name)] }"
        // Prints its command line, and thereby the secret, to standard error.
        default: #"{ run: [sh, -xc, 'v=$(cat values/\#(name)); printf %s "$v"'] }"#
        }
      text += "  \(name): \(source)\n"
    }
    text += "tasks:\n"
    let failures = ["true", "exit 3", "kill -9 $$", "test $OPFLOW_ATTEMPT = 2", "kill -9 $PPID"]
    for number in 0..<4 {
      text += task("say\(number)", &random, then: failures[random.below(failures.count)])
    }
    text += task("value", &random, then: #"echo "a $TOKEN" > $OPFLOW_VALUES/v"#)
    text += task("named", &random, then: #": > "$OPFLOW_VALUES/$TOKEN""#)
    text += task("clean", &random, then: "echo fine > $OPFLOW_VALUES/v")
    text += task(
      "reads", &random, then: "test $W = fine",
      "    needs: clean\n    env: { W: '${{ needs.clean.v }}' }\n")
    text += task(
      "leaves", &random, then: #"mkdir -p out; : > "out/$TOKEN"; echo > out/plain"#,
      "    inputs: [good.yaml]\n    outputs: [out/*]\n    cache: { secrets: true }\n")
    text += task("takes", &random, "    needs: leaves\n    inputs: [named/*, out/*]\n")
    text += task(
      "cached", &random, then: "echo > kept",
      "    inputs: [good.yaml]\n    outputs: [kept]\n"
        + "    cache: { secrets: true }\n")
    text += task("lists", &random, then: #"echo "p $TOKEN" > bad.txt; printf 'a\nb\n' > list.txt"#)
    text += "  late: { matrix: { p: { lines: bad.txt, after: lists } }, run: 'true' }\n"
    text += task("each", &random, "    matrix: { p: { lines: list.txt, after: lists } }\n")
    let doors = [
      #"printf 'tasks: { "x-%s": { run: a } }' "$TOKEN""#,
      #"printf 'tasks: { x: { run: [echo, "%s"] } }' "$(printf %s "$TOKEN" | base64)""#,
      #"printf 'tasks: { x: { run: a } } # %s' "$TOKEN""#,
      #"""
      echo "$TOKEN" > added.txt; echo 'tasks: { x: { matrix: { l: { lines: added.txt } }, \#
      run: a } }'
      """#,
    ]
    text += task(
      "adds", &random,
      then: "(\(doors[random.below(doors.count)])) | \(program) add -; \(program) add good.yaml",
      "    control: true\n")
    text += """
        serves:
          service:
            ready: { exec: [sh, -c, 'cat values/TOKEN; cat values/KEY >&2; test -e up'] }
          run: cat values/KEY; touch up; exec sleep 100

      """
    text += task("uses", &random, "    needs: serves\n")
    return text + "  asks: { approve: 'Is it right?' }\n"
      + task("last", &random, "    finally: true\n")
  }
}
