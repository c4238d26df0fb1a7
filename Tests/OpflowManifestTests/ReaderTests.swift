import OpflowPlan
import Testing

@testable import OpflowManifest

/// The readers of single subjects, without a plan.
struct ReaderTests {
  private func messages(_ values: ValueReader) -> [String] { values.diagnostics.all.map(\.message) }

  private func settings(_ values: ValueReader) -> (SettingsReader, TaskDefaults) {
    let folder = values.scope.store.copy("/data")
    let resources = ResourceTable(cpu: 8, memory: 1 << 30, store: values.scope.store)
    let standard = TaskDefaults(
      settings: TaskSettings(
        shell: CommandReader.scalars(["/bin/sh", "-ec"], values.document.root, values.scope.store),
        directory: Directory(path: folder, stable: folder)))
    return (SettingsReader(values, folder: folder, resources: resources), standard)
  }

  @Test func `needs are read without asking which tasks there are`() throws {
    let values = try values(of: "[a, { task: b, on: failure }, { on: success }]")
    var needs: [TaskValues.Need] = []
    NeedReader(values: values).read(values.document.root, into: &needs)
    #expect(needs.map(\.name.string) == ["a", "b"])
    #expect(needs.map(\.condition) == [.success, .failure])
    #expect(messages(values) == ["an item of `needs` has no `task`"])
  }

  @Test func `a later layer of variables goes over the ones below, in their places`() throws {
    let values = try values(of: "[{ A: 1, B: 2 }, { C: 3, A: 4, OPFLOW_X: 5 }]")
    var list = EnvironmentList()
    let reader = EnvironmentReader(values)
    for layer in values.document.children(values.document.root) { reader.read(layer, into: &list) }
    #expect(
      list.variables.map { "\($0.name.string)=\($0.value.text.string)" } == ["A=4", "B=2", "C=3"])
    #expect(
      messages(values)
        == ["`OPFLOW_X` is reserved: opflow sets the variables that begin with `OPFLOW_`"])
    list.removeAll()
    for layer in values.document.children(values.document.root) { reader.read(layer, into: &list) }
    #expect(list.variables.count == 3)
  }

  @Test func `settings say which of them a task has of its own`() throws {
    let values = try values(of: "{ dir: src, retry: { max: 2, exit_codes: [75] }, priority: high }")
    let (reader, standard) = settings(values)
    var defaults = standard
    let keys = values.maps.fields(values.document.root, values.tables.task)
    let own = reader.read(keys, into: &defaults.settings, &defaults.lists)
    #expect(own == [.directory, .policy])
    #expect(defaults.settings.directory.path.string == "/data/src")
    #expect(defaults.settings.priority == 4)
    #expect(defaults.settings.retryCodes(for: .shell) == [75])
    #expect(defaults.settings.retryCodes(for: .download).isEmpty)
    #expect(defaults.settings.policy(for: .download).retryMax == 2)
  }

  @Test func `a download is tried again without being told to`() throws {
    let (_, defaults) = settings(try values(of: "{}"))
    #expect(defaults.settings.policy(for: .download).retryMax == 3)
    #expect(defaults.settings.policy(for: .shell).retryMax == 0)
  }

  @Test func `a task holds what it asks for over what its kind holds`() {
    var demands = Demands()
    demands.set(3, 2000)
    #expect(demands.resolved(for: .command).map(\.resource) == [ResourceEntry.cpu, 3])
    #expect(demands.resolved(for: .download).map(\.resource) == [ResourceEntry.download, 3])
    demands.set(ResourceEntry.cpu, 0)
    #expect(demands.resolved(for: .command).map(\.resource) == [3])
  }

  @Test func `one record serves all tasks in turn, and keeps nothing of the one before`() throws {
    let values = try values(
      of: """
        defaults: { env: { A: "1" } }
        tasks:
          a: { run: [x, y], needs: b, env: { B: "2" }, tags: t, desc: d, allow_failure: [3] }
          b: { run: z }
        """)
    let (settings, standard) = settings(values)
    let declarer = DeclarationReader(values: values)
    let file = try #require(declarer.readFile())
    var tasks = TaskDeclarations()
    declarer.readTasks(of: file, into: &tasks)
    values.scope.position = .task
    let reader = TaskReader(settings, defaults: file.keys[.defaults], over: standard)
    var task = TaskValues(reader.defaults)
    reader.read(tasks.key(0), name: tasks.name(0), into: &task)
    #expect(task.kind == .command)
    #expect(task.own == [.environment])
    #expect(task.lists.environment.variables.map(\.name.string) == ["B"])
    #expect(task.needs.map(\.name.string) == ["b"])
    reader.read(tasks.key(1), name: tasks.name(1), into: &task)
    #expect(task.kind == .shell)
    #expect(task.script?.text.string == "z")
    #expect(task.own.isEmpty)
    #expect(task.needs.isEmpty && task.words.isEmpty && task.texts[.tags].isEmpty)
    #expect(task.texts[.description].isEmpty && task.allowedCodes.isEmpty)
    #expect(values.diagnostics.all.isEmpty)
  }

  @Test func `defaults that speak of the task are read for each`() throws {
    let values = try values(
      of: "{ defaults: { dir: 'd/${{ task.id }}' }, tasks: { a: { run: x }, b: { run: x } } }")
    let (settings, standard) = settings(values)
    let declarer = DeclarationReader(values: values)
    let file = try #require(declarer.readFile())
    var tasks = TaskDeclarations()
    declarer.readTasks(of: file, into: &tasks)
    let reader = TaskReader(settings, defaults: file.keys[.defaults], over: standard)
    var task = TaskValues(reader.defaults)
    let folders = (0..<tasks.count).map { number in
      reader.read(tasks.key(number), name: tasks.name(number), into: &task)
      return task.settings.directory.path.string
    }
    #expect(folders == ["/data/d/a", "/data/d/b"])
    #expect(task.own == .all)
  }
}
