import Testing

@testable import OpflowManifest

/// What files declare, before anything of it has a value.
struct DeclarationTests {
  private func file(_ number: UInt32, _ text: String) throws -> ValueReader {
    try values(of: text, number: number)
  }

  @Test func `tasks are declared in their order, merged ones last`() throws {
    let values = try file(
      0, "x-more: &more { c: 1, a: 2 }\ntasks:\n  <<: *more\n  b: 3\n  a: 4\n")
    let reader = DeclarationReader(values: values)
    let file = try #require(reader.readFile())
    var tasks = TaskDeclarations()
    reader.readTasks(of: file, into: &tasks)
    #expect(tasks.names.map(\.string) == ["b", "a", "c"])
    #expect(tasks.document(2).offset(tasks.key(2)) == 16)
    #expect(values.diagnostics.all.isEmpty)
  }

  @Test func `tasks of several files stand in one list, each in its own file`() throws {
    let texts = ["tasks: { a: 1, b: 2 }", "# more\ntasks: { c: 3, b: 4 }"]
    var tasks = TaskDeclarations()
    for (number, text) in texts.enumerated() {
      let reader = DeclarationReader(values: try file(UInt32(number), text))
      let file = try #require(reader.readFile())
      reader.readTasks(of: file, into: &tasks)
    }
    #expect(tasks.names.map(\.string) == ["a", "b", "c"])
    #expect((0..<3).map { tasks.document($0).place(tasks.key($0)).file } == [0, 0, 1])
    #expect(tasks.index(of: tasks.name(2)) == 2)
    #expect(tasks.document(2).text(tasks.key(2).value).string == "3")
  }

  @Test func `names are found however many there are`() {
    let store = TextStore()
    var index = TextTable()
    for number in 0..<100 {
      #expect(index.add(store.copy("name-\(number)")) == nil)
      #expect(index.add(store.copy("name-\(number / 2)")) == number / 2)
      #expect(index.index(of: store.copy("name-\(number)")) == number)
      #expect(index.index(of: store.copy("name-\(number + 1)")) == nil)
    }
  }

  @Test func `every key is found by its word, and defaults have keys of tasks`() throws {
    let tables = SchemaTables()
    let store = TextStore()
    for key in TaskKey.allCases {
      #expect(tables.task.key(store.copy(key.name.description)) == key)
      #expect(
        tables.defaults.key(store.copy(key.name.description))
          == (TaskKey.ofDefaults.contains(key) ? key : nil))
    }
    #expect(tables.defaults.names.map(\.string) == TaskKey.ofDefaults.map(\.name.description))
  }
}

/// A reader of the values of a file.
func values(of text: String, number: UInt32 = 0) throws -> ValueReader {
  let document = try YAMLDocument(
    reading: SourceFile(number: number, displayPath: "m.yaml", bytes: Array(text.utf8)))
  return ValueReader(
    document: document, diagnostics: Diagnostics(),
    scope: NameScope(runID: "run-1", inheritedEnvironment: []), tables: SchemaTables(),
    scratch: TextStore())
}
