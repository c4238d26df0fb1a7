import Foundation

/// Sources, parts made of each source and all headers, bundles of parts, and a file of the bundles'
/// values. The sources alone determine the content of each file.
struct FreshProject {
  private let folder: String
  private let sources: Int
  private var texts: [String: String] = [:]
  /// The sources of each branch when another branch was checked out.
  private var branches: [[String: String]] = []
  private var branch = 0
  private var edits = 0

  private static let perBundle = 6

  init(folder: String, sources: Int) throws {
    self.folder = folder
    self.sources = sources
    for part in ["src", "inc"] {
      try FileManager.default.createDirectory(
        atPath: "\(folder)/\(part)", withIntermediateDirectories: true)
    }
    for index in 0..<sources { try write("src/\(index)", "source \(index)\n") }
    for index in 0..<3 { try write("inc/\(index).h", "header \(index)\n") }
    branches = [texts, texts, texts]
    try manifest.write(toFile: "\(folder)/opflow.yaml", atomically: false, encoding: .utf8)
  }

  private var bundles: [Range<Int>] {
    stride(from: 0, to: sources, by: Self.perBundle).map {
      $0..<min($0 + Self.perBundle, sources)
    }
  }

  /// Killed tasks leave half of their outputs, and each start writes a line.
  private var manifest: String {
    var text = "max_parallel: 4\ndefaults: { retry: { max: 1000, delay: 0 } }\ntasks:\n"
    for index in 0..<sources {
      text += task(
        "part\(index)", needs: [], inputs: ["inc/*.h", "src/\(index)"], output: "out/part\(index)",
        isCached: index % 4 != 3, pause: index % 5 == 0)
    }
    for (number, members) in bundles.enumerated() {
      text +=
        task(
          "bundle\(number)", needs: members.map { "part\($0)" },
          inputs: members.map { "out/part\($0)" }, output: "out/bundle\(number)",
          isCached: number % 2 == 0, pause: true)
        + "      cp out/bundle\(number) $OPFLOW_VALUES/text\n"
    }
    text += """
        values:
          needs: [\(bundles.indices.map { "bundle\($0)" }.joined(separator: ", "))]
          inputs: []
          outputs: [values]
          cache: true
          env: { \(bundles.indices.map { "T\($0): \"${{ needs.bundle\($0).text }}\"" }.joined(separator: ", ")) }
          run: |
            echo values >> attempts
            echo values > values
            sleep 0.02
            printf '%s\\n' \(bundles.indices.map { "\"$T\($0)\"" }.joined(separator: " ")) >> values

      """
    return text
      + task(
        "all", needs: bundles.indices.map { "bundle\($0)" },
        inputs: bundles.indices.map { "out/bundle\($0)" }, output: "all", isCached: true,
        pause: false)
  }

  private func task(
    _ name: String, needs: [String], inputs: [String], output: String, isCached: Bool,
    pause: Bool
  ) -> String {
    """
      \(name):
        needs: [\(needs.joined(separator: ", "))]
        inputs: [\(inputs.map { "\"\($0)\"" }.joined(separator: ", "))]
        outputs: [\(output)]
        cache: \(isCached)
        run: |
          echo \(name) >> attempts
          echo \(name) > \(output)
          \(pause ? "sleep 0.02" : ":")
          cat \(inputs.joined(separator: " ")) >> \(output)

    """
  }

  // MARK: - Changes

  /// Changes files like users and their tools.
  ///
  /// - Parameter isRunning: leaves outputs alone, since damage to them could not be told from
  /// results.
  mutating func change(isRunning: Bool, _ random: inout DrillNumbers) throws {
    edits += 1
    let source = "src/\(random.below(sources))"
    switch random.below(13) {
    case 0...3: try write(source, "source \(source), edit \(edits)\n")
    // Same size, perhaps within the same clock tick.
    case 4: try write(source, String((texts[source] ?? "x\n").reversed().dropFirst()) + "\n")
    case 5: try write("inc/\(random.below(3)).h", "header, edit \(edits)\n")
    case 6:
      let name = "inc/more\(random.below(2)).h"
      if texts[name] == nil {
        try write(name, "one more \(edits)\n")
      } else {
        texts[name] = nil
        try FileManager.default.removeItem(atPath: path(name))
      }
    case 7, 11: try switchBranch(to: random.below(branches.count))
    case 8 where !isRunning: try? FileManager.default.removeItem(atPath: path(anyOutput(&random)))
    case 9 where !isRunning:
      let output = anyOutput(&random)
      if FileManager.default.fileExists(atPath: path(output)) {
        try "garbage\n".write(toFile: path(output), atomically: random.chance(50), encoding: .utf8)
      }
    case 10:
      // Another content with a modification time an hour ago.
      try write(source, "source \(source), long ago \(edits)\n")
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -3600)], ofItemAtPath: path(source))
    default:
      try FileManager.default.setAttributes(
        [.modificationDate: Date()], ofItemAtPath: path(source))
    }
  }

  /// Switches branches like a tool that knows their contents: changed files get new inodes, others
  /// stay.
  private mutating func switchBranch(to other: Int) throws {
    branches[branch] = texts
    for name in texts.keys where branches[other][name] == nil {
      texts[name] = nil
      try FileManager.default.removeItem(atPath: path(name))
    }
    for (name, text) in branches[other].sorted(by: { $0.key < $1.key })
    where texts[name] != text {
      texts[name] = text
      try text.write(toFile: path(name), atomically: true, encoding: .utf8)
    }
    branch = other
  }

  private func anyOutput(_ random: inout DrillNumbers) -> String {
    switch random.below(4) {
    case 3: "values"
    case 0: "out/bundle\(random.below(bundles.count))"
    case 1: "all"
    default: "out/part\(random.below(sources))"
    }
  }

  private mutating func write(_ name: String, _ text: String) throws {
    texts[name] = text
    try text.write(toFile: path(name), atomically: edits % 2 == 1, encoding: .utf8)
  }

  private func path(_ name: String) -> String { "\(folder)/\(name)" }

  // MARK: - Expectations

  /// The content of each output by name, for the current sources.
  var expected: [String: String] {
    let headers = texts.keys.filter { $0.hasPrefix("inc/") }.sorted().map { texts[$0] ?? "" }
    var outputs: [String: String] = [:]
    for index in 0..<sources {
      outputs["out/part\(index)"] =
        "part\(index)\n" + headers.joined() + (texts["src/\(index)"] ?? "")
    }
    for (number, members) in bundles.enumerated() {
      outputs["out/bundle\(number)"] =
        "bundle\(number)\n" + members.map { outputs["out/part\($0)"] ?? "" }.joined()
    }
    outputs["all"] =
      "all\n" + bundles.indices.map { outputs["out/bundle\($0)"] ?? "" }.joined()
    outputs["values"] =
      "values\n" + bundles.indices.map { outputs["out/bundle\($0)"] ?? "" }.joined()
    return outputs
  }

  /// Returns the first output that does not match the sources.
  func firstWrong() -> String? {
    expected.sorted { $0.key < $1.key }.first { name, text in
      FileManager.default.contents(atPath: path(name)) != Data(text.utf8)
    }?.key
  }
}
