import Foundation
import Testing

@testable import OpflowManifest

/// Runs the JSON Schema of manifests through the Python package `jsonschema`.
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
    // In YAML 1.1 the key `on` is a boolean.
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
      // A pattern of reasonable length cannot tell whether a number in quotes is too large.
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

  /// Parts of errors that a schema cannot find: between several places of a manifest, or within a
  /// string.
  private static let beyond = [
    // A resource that the manifest declares may have fractions.
    "`resources.gpu` must be a whole number",
    // Names that do not exist, and the order of tasks.
    "unknown name", "unknown task", "unknown resource", "needs itself", "is needed twice",
    "dependency cycle", "needs the `finally` task", "does not need", "has no name `",
    "is missing here",
    // Duplicates.
    "occurs twice in", "written twice", "set twice", "has the name `", "already exists",
    // Amounts against each other, and their decimals.
    "is more than the limit of", "three decimals", "is too large", "at most 1000h", "not `1.0`",
    "too many matrix tasks", "removes all matrix tasks", "ends before it begins", "begins with 0",
    // Within a string.
    "cannot be used here", "cannot be part of a script", "is a secret", "does not name a value",
    "not a valid value name",
    "of the value in", "expression", "`${{` is not closed", "expected an operator", "must follow",
    "is empty: the result of", "parentheses", "has no value outside", "not `urgent`", "not `p`",
    "not `q`",
    "is not a valid pattern", "contains `{a,b}`", "contains `{c,h}`", "begins with `!`",
    "pass a script", "must be an http", "contains a newline", "contains a NUL character",
    "at most 255 bytes", "nested deeper", "keeps its runs",
    "not a valid name of an environment variable", "not a valid environment variable name",
    // Files, and a matrix as a whole.
    "cannot read", "cannot expand", ".tsv:", ".csv:", "nul:", "lines:",
    "has no axis and no `rows`",
  ]

  @Test func `the schema refuses each bad manifest unless the error is beyond a schema`() throws {
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
