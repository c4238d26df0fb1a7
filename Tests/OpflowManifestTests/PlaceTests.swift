import Testing

@testable import OpflowManifest

/// Places in files, of which a manifest may come to have several.
struct PlaceTests {
  private let files = [
    SourceFile(number: 0, displayPath: "a.yaml", bytes: Array("one\ntwo\n".utf8)),
    SourceFile(number: 1, displayPath: "b.yaml", bytes: Array("three\nfour: pw@x\n".utf8)),
  ]

  @Test func `an error shows a line of its own file`() {
    let errors = Diagnostics()
    errors.error(files[1].place(6), "second")
    errors.error(files[0].place(5), "first")
    let found = errors.diagnostics(.error, in: files)
    #expect(found.map(\.message) == ["first", "second"])
    #expect(found.map(\.file) == ["a.yaml", "b.yaml"])
    #expect(found.map { "\($0.line):\($0.column)" } == ["2:2", "2:1"])
    #expect(found.map(\.sourceLine) == ["two", "four: pw@x"])
  }

  @Test func `a note names its own file`() {
    let errors = Diagnostics()
    errors.add(
      Diagnostics.RawDiagnostic(
        severity: .error, place: files[1].place(0), message: "again",
        notes: [.init(place: files[0].place(4), message: "before")]))
    let text = errors.diagnostics(.error, in: files)
      .map { DiagnosticRenderer(isColored: false).render($0) }.joined()
    #expect(text == "b.yaml:1:1: error: again\nthree\n^\na.yaml:2: note: before\n")
  }

  @Test func `the same offset in another file is another place`() {
    let errors = Diagnostics()
    errors.error(files[0].place(0), "wrong")
    errors.error(files[1].place(0), "wrong")
    errors.settle(files[1].place(4))
    errors.error(files[0].place(4), "not settled")
    errors.hide(Secret(place: files[1].place(6), extent: .rest))
    #expect(errors.errorCount == 3)
    #expect(errors.diagnostics(.error, in: files).map(\.sourceLine) == ["one", "two", "three"])
  }
}

/// Documents on their own.
struct YAMLDocumentTests {
  private func document(_ text: String) throws -> YAMLDocument {
    try YAMLDocument(reading: SourceFile(displayPath: "m", bytes: Array(text.utf8)))
  }

  @Test func `a document keeps what its nodes are read from`() throws {
    // Nobody else has the file by then.
    let document = try document("a: [1, \"x\\ty\"]\n")
    let nodes = Array(document.children(document.root))
    try #require(nodes.count == 2)
    let items = document.children(nodes[1]).map { document.text($0).string }
    #expect(document.text(nodes[0]).string == "a")
    #expect(items == ["1", "x\ty"])
  }

  @Test func `what is no document says why and where`() {
    #expect(throws: YAMLFailure.self) { try document("") }
    do {
      _ = try document("a: 1\n---\nb: 2\n")
    } catch {
      let failure = error as? YAMLFailure
      #expect(failure?.reason == .secondDocument)
      #expect(failure?.offset == 5)
      #expect(failure?.isFinal == false)
    }
  }
}
