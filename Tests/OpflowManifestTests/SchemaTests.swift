import Foundation
import Testing

@testable import OpflowManifest

/// The schema by a validator of other people's.
@Suite(.enabled(if: SchemaValidator.isThere, "scripts/setup --tests installs jsonschema"))
struct SchemaTests {
  @Test func `the schema accepts every manifest of the jobs`() throws {
    let folder = #filePath.components(separatedBy: "/Tests/")[0] + "/jobs"
    let names = try #require(FileManager.default.enumerator(atPath: folder)).compactMap {
      $0 as? String
    }
    .filter { $0.hasSuffix(".yaml") }
    let texts = try names.map { try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) }
    let verdicts = try SchemaValidator.verdicts(ManifestSchema.text, texts)
    #expect(names.count > 20 && verdicts.count == names.count)
    for (name, verdict) in zip(names, verdicts) { #expect(verdict == .accepted, "\(name)") }
    // To who reads YAML 1.1 the key `on` is no text.
    let old = try SchemaValidator.verdicts(ManifestSchema.text, texts, isOld: true)
    for (name, verdict) in zip(names, old) { #expect(verdict == .accepted, "\(name)") }
  }

  @Test(arguments: [false, true])
  func `the schema knows the key on by readers of YAML 1.1 too`(isOld: Bool) throws {
    let verdicts = try SchemaValidator.verdicts(
      ManifestSchema.text,
      ["on: failure", "\"on\": failure", "on: always", "when: failure", "on: failure, when: x"].map
      {
        "tasks: { a: { run: x }, b: { run: x, needs: [{ task: a, \($0) }] } }"
      }, isOld: isOld)
    #expect(verdicts == [.accepted, .accepted, .refused, .refused, .refused])
  }

  @Test func `the schema refuses nothing that opflow reads, and every value of a wrong type`()
    throws
  {
    let samples = KeySample.all + KeySample.examples
    let verdicts = try SchemaValidator.verdicts(ManifestSchema.text, samples.map(\.text))
    try #require(verdicts.count == samples.count)
    var wrong = 0
    for (sample, verdict) in zip(samples, verdicts) {
      let isRead = errors(
        in: sample.text, environment: [("TOKEN", "abcdefgh")], files: KeySample.files
      ).isEmpty
      if isRead { #expect(verdict == .accepted, "\(sample.name)\n\(sample.text)") }
      // Whether a number in quotes is too large, no pattern of a reasonable length tells.
      guard sample.isRight == false, !sample.name.hasSuffix("\"") else { continue }
      wrong += 1
      #expect(verdict == .refused, "\(sample.name)\n\(sample.text)")
    }
    #expect(wrong > 1000)
  }

  @Test func `the schema takes a task that is a name for others`() throws {
    let verdicts = try SchemaValidator.verdicts(
      ManifestSchema.text,
      [
        "tasks: { a: { needs: [b] }, b: { run: x } }",
        "tasks: { a: { needs: b, desc: x, tags: y, manual: true, if: 'true' }, b: { run: x } }",
        "tasks: { a: { needs: [b], env: { A: b } }, b: { run: x } }",
        "tasks: { a: { needs: [] }, b: { run: x } }",
      ])
    #expect(verdicts == [.accepted, .accepted, .refused, .refused])
  }

  /// What only the whole of a manifest tells, a text that is no name or pattern, and the like.
  private static let beyond = [
    // What a manifest declares itself has fractions.
    "`resources.gpu` must be a whole number",
    // Which names there are, and what comes before what.
    "unknown name", "unknown task", "unknown resource", "needs itself", "is needed twice",
    "in a ring",
    "needs the `finally` task", "does not need", "has no `", "is missing here",
    // The same thing twice.
    "stands twice", "written twice", "set twice", "has two of", "two would be alike",
    // Amounts against each other, and their decimals.
    "is more than its capacity", "three decimals", "is too large", "at most 1000h", "not `1.0`",
    "too many legs", "leaves no leg", "ends before it begins", "begins with a zero",
    // What is in a text.
    "cannot stand", "is a secret", "a secret can be neither", "names no value",
    "no name of a value",
    "of the value in", "expression", "without its `}}`", "where an operator", "should stand",
    "came out empty", "parentheses", "has no value outside", "not `urgent`", "not `p`", "not `q`",
    "is no pattern", "holds `{a,b}`", "holds `{c,h}`", "begins with `!`", "takes a script",
    "must be an http", "holds a line end", "holds a NUL", "at most 255 bytes", "nested deeper",
    "where runs are kept", "no name of an environment variable",
    // Files, and a matrix as a whole.
    "cannot be read", "cannot be looked for", ".tsv:", ".csv:", "nul:", "lines:",
    "has no axis and no `rows`",
  ]

  @Test func `the schema refuses the bad manifests as far as one place tells`() throws {
    let lists = [
      BadTaskShapeTests.cases, BadTaskRuleTests.cases, BadTaskValueTests.cases,
      BadTopLevelTests.cases, BadNeedTests.cases, BadDownloadTests.cases, BadSecretTests.cases,
      BadValueTests.cases, BadDeclaredFileTests.entries, BadDeclaredFileTests.tasks,
      BadDocumentTests.cases, BadSyntaxTests.cases, BadExpressionTests.cases,
      BadMatrixTests.shapes, BadMatrixTests.axes, BadMatrixTests.ranges, BadMatrixTests.rows,
      BadMatrixTests.lists,
    ]
    let cases = Array(lists.joined())
    let verdicts = try SchemaValidator.verdicts(ManifestSchema.text, cases.map(\.text))
    try #require(verdicts.count == cases.count)
    var refused = 0
    for (bad, verdict) in zip(cases, verdicts) {
      if verdict != .accepted {
        refused += 1
        continue
      }
      let isBeyond = bad.errors.allSatisfy { problem in
        Self.beyond.contains { problem.contains($0) }
      }
      #expect(isBeyond, "\(bad.errors)")
    }
    #expect(refused > 150)
  }
}
