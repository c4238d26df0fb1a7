import OpflowJournal
import OpflowManifest
import OpflowPlan
import OpflowRuntime
import OpflowSystem
import Testing

/// What prepares runs, without a process: a request in, files and values out.
@Suite struct PreparationTests {
  private let fixture: StateFixture

  init() throws { fixture = try StateFixture() }

  private func manifest(
    _ text: String = "tasks:\n  a: { run: 'true' }\n  b: { run: 'true', needs: a }\n"
  ) throws -> ManifestFile {
    try ManifestFile(at: fixture.write("opflow.yaml", text))
  }

  /// A run that begins and is left, as by a crash before its first task.
  private func begun(_ request: RunRequest, _ manifest: ManifestFile) throws -> RunFolder {
    var new = try NewRun(manifest, fixture.state, request)
    try new.selectTasks()
    let session = try new.begin()
    let folder = session.request.folder
    let isHeld = try RunFolderLock.isHeld(folder)
    #expect(isHeld)
    _ = consume session
    return folder
  }

  @Test func `a run that began tells what it was begun with, and lets go of its lock`() throws {
    var request = RunRequest()
    request.set = ["x=1"]
    request.only = ["a"]
    let manifest = try manifest(
      "vars: { x: '0' }\ntasks: { a: { run: 'true' }, b: { run: 'true' } }\n")
    let folder = try begun(request, manifest)
    let open = try folder.readOpen()
    #expect(open.set == ["x=1"])
    #expect(open.only == ["a"])
    #expect(open.manifestPath == manifest.realPath)
    #expect(open.stateFolder == fixture.state.path)
    try folder.waitUntilFree()
    #expect(try folder.openPlan().taskCount == 2)
  }

  @Test func `only the tasks that were asked for enter a run`() throws {
    var request = RunRequest()
    request.tasks = ["a"]
    var new = try NewRun(manifest(), fixture.state, request)
    #expect(new.initial == [.run, .run])
    try new.selectTasks()
    #expect(new.initial == [.run, .excluded])
    #expect(!fixture.state.isThere)
  }

  @Test func `a run that began and was left is resumed with all its tasks`() throws {
    let folder = try begun(RunRequest(), manifest())
    let found = try ResumedRun(folder, nil, RunRequest())
    #expect(found.diagnostics.isEmpty)
    let prepared = try PreparedResume(found, RunRequest())
    #expect(prepared.initial == [.run, .run])
    #expect(prepared.nothingToDo == nil)
    #expect(prepared.state == .interrupted)
    let session = try prepared.begin(holding: RunFolderLock.take(folder))
    let isResumed = session.request.isResumed
    #expect(isResumed)
  }

  @Test func `a run is gone on with by the same values and tasks only`() throws {
    var request = RunRequest()
    request.tasks = ["a"]
    let manifest = try manifest()
    let folder = try begun(request, manifest)
    #expect(
      try fixture.state.resumable(ofManifest: manifest.realPath, request)?.id == folder.id)
    #expect(try fixture.state.resumable(ofManifest: manifest.realPath, RunRequest()) == nil)
    #expect(fixture.state.newestState(ofManifest: manifest.realPath)?.state == .interrupted)
  }

  @Test func `a manifest with mistakes is an error with all of them, and leaves no folder`() throws
  {
    let manifest = try manifest("tasks:\n  a: { rnu: 'true' }\n  b: { needs: c }\n")
    let error = #expect(throws: PreparationError.self) {
      _ = try NewRun(manifest, fixture.state, RunRequest())
    }
    guard case .diagnostics(let diagnostics) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(diagnostics.errorCount > 1)
    #expect(!fixture.state.isThere)
  }

  @Test func `a name that is no task is an error with what was likely meant`() throws {
    var request = RunRequest()
    request.tasks = ["bb"]
    var new = try NewRun(manifest("tasks: { bob: { run: 'true' } }\n"), fixture.state, request)
    let error = #expect(throws: PreparationError.self) { try new.selectTasks() }
    guard case .noSuchTask(let word, _, let tasks) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(word.selector == "bb")
    #expect(word.nearest == "bob")
    #expect(tasks == ["bob"])
  }

  @Test func `a manifest that is not there is an error with its path`() throws {
    let path = fixture.root + "/nowhere.yaml"
    let error = #expect(throws: PreparationError.self) { _ = try ManifestFile(at: path) }
    guard case .unreadable(path, .noSuchFile) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `the manifest's warnings are told before its tasks are selected`() throws {
    var request = RunRequest()
    request.tasks = ["nothing"]
    request.maxParallel = 1
    let text = "tasks: { a: { run: 'true', resources: { cpu: 2 } } }\n"
    var new = try NewRun(manifest(text), fixture.state, request)
    #expect(!new.diagnostics.isEmpty)
    #expect(throws: PreparationError.self) { try new.selectTasks() }
  }
}
