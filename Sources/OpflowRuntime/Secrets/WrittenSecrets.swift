internal import OpflowBase
internal import OpflowPlan

/// Finds secrets that reached a plan other than through `secrets`: in the manifest, another
/// environment variable, a file, a table or a file name. The plan and copies of its sources are
/// stored and shown.
struct WrittenSecrets {
  typealias Copy = (name: String, bytes: [UInt8])

  private let plan: Plan
  private let masker: Masker
  private let single: [(name: String, masker: Masker)]
  /// Strings already searched; tasks share many.
  private var seen: Set<TextRef> = []
  private var bases: Set<UInt32> = []
  /// By secret: its first place, the last task found, and the number of further tasks.
  private var places: [String: (first: String, last: TaskID, more: Int)] = [:]

  static func warnings(_ secrets: [SecretValue], in plan: Plan, copies: [Copy]) -> [String] {
    places(secrets, plan, copies).map { name, place in
      "the value of the secret `\(name)` appears in \(place), which opflow stores and shows; keep "
        + "it only in the source that `secrets` names"
    }
  }

  static func refusal(_ secrets: [SecretValue], of segment: Plan, copies: [Copy]) -> String? {
    places(secrets, segment, copies).first.map { name, place in
      "the value of the secret `\(name)` appears in \(place), which opflow would store and show; "
        + "list the secret under `secrets` of the task, and read it from the environment there"
    }
  }

  private static func places(
    _ secrets: [SecretValue], _ plan: Plan, _ copies: [Copy]
  ) -> [(name: String, place: String)] {
    guard let masker = Masker(secrets) else { return [] }
    let isInPlan = masker.finds(plan.allTexts)
    let copies = copies.filter { copy in copy.bytes.withUnsafeBytes { masker.finds($0) } }
    if !isInPlan, copies.isEmpty { return [] }
    var written = WrittenSecrets(
      plan: plan, masker: masker,
      single: secrets.compactMap { secret in Masker([secret]).map { (secret.name, $0) } })
    if isInPlan { written.searchPlan() }
    for copy in copies { written.search(copy) }
    return secrets.compactMap { secret in
      written.places[secret.name].map { (secret.name, masker.masked($0.first) + more($0.more)) }
    }
  }

  private static func more(_ count: Int) -> String {
    count == 0 ? "" : count == 1 ? " and in another task" : " and in \(count) other tasks"
  }

  private init(plan: Plan, masker: Masker, single: [(name: String, masker: Masker)]) {
    self.plan = plan
    self.masker = masker
    self.single = single
  }

  // MARK: - The plan

  private mutating func searchPlan() {
    for index in plan.tasks { search(TaskID(index)) }
    searchTop()
    // The plan contains it somewhere: report it in any case.
    for (name, masker) in single where places[name] == nil && masker.finds(plan.allTexts) {
      places[name] = ("the compiled plan", .none, 0)
    }
  }

  private mutating func search(_ task: TaskID) {
    let record = plan.record(task)
    search([plan.nameString(task)], of: task) { "the ID `\($0)`" }
    let action = plan.kind(task) == .approve ? "approve" : "run"
    search(record.script, of: task, action)
    for word in plan.words(task) { search(word, of: task, "run") }
    for word in plan.list(record.shell) { search(word, of: task, "shell") }
    let environment = plan.environmentEntry(record.environment)
    let base = bases.insert(environment.base).inserted ? plan.variables(environment.base) : nil
    for item in [base, plan.variables(environment.own)].compactMap(\.self).joined() {
      let variable = plan.string(item.name)
      search(item.value, of: task) { "the variable `\(variable)` of `\($0)`" }
      search(item.name, of: task, "env")
    }
    search(record.directory, of: task, "dir")
    // Names of secrets are not secret.
    for text in TaskText.allCases where text != .secrets {
      for place in plan.texts(text, of: task) { search(place, of: task, "\(text.word)") }
    }
    for item in plan.lateItems(task) {
      for step in plan.steps(item.program) { search(step.text, of: task, item.key) }
    }
    if let matrixGroup = plan.matrixGroup(of: task) {
      for value in plan.instanceValues(task, of: matrixGroup) { search(value, of: task, "matrix") }
    }
    searchFiles(of: task)
    if plan.kind(task) == .download { searchDownload(task) }
    if plan.isService(task) { searchService(task) }
  }

  private mutating func searchFiles(of task: TaskID) {
    for input in plan.inputs(of: task) {
      switch input {
      case .path(let text), .glob(let text), .environment(let text):
        search([text], of: task, "inputs")
      case .command(let words): search(words, of: task, "inputs")
      }
    }
    search(plan.outputs(of: task).map(\.text), of: task, "outputs")
  }

  private mutating func searchDownload(_ task: TaskID) {
    let download = plan.download(task)
    search(download.sources + [download.target], of: task, "download")
    search(download.headers.flatMap { [$0.name, $0.value] }, of: task, "headers")
  }

  private mutating func searchService(_ task: TaskID) {
    let ready: [String] =
      switch plan.readiness(of: task).probe {
      case .none, .port: []
      case .namedPort(let text), .http(let text), .log(let text), .file(let text): [text]
      case .exec(let words): words
      }
    search(ready, of: task, "ready")
    search(plan.portNames(of: task), of: task, "ports")
  }

  private mutating func searchTop() {
    let top = plan.manifest
    note([plan.string(top.name)], "`name`")
    note([plan.string(top.description)], "`desc`")
    note([plan.concurrency.name], "`concurrency`")
    note(plan.resources.map { plan.string($0.name) }, "`resources`")
    note([plan.string(top.folder)], "the path of the manifest's folder")
    note(plan.filesRead, "the path of a file that the manifest names")
    note(plan.patternsRead.flatMap { [$0.pattern, $0.folder] }, "a `glob`")
  }

  // MARK: - Strings

  private mutating func search(_ text: TextRef, of task: TaskID, _ place: (String) -> String) {
    guard text.length >= SecretValue.shortestBytes, seen.insert(text).inserted else { return }
    search([plan.string(text)], of: task, place)
  }

  private mutating func search(_ text: TextRef, of task: TaskID, _ key: String) {
    search(text, of: task) { "`\(key)` of `\($0)`" }
  }

  private mutating func search(_ texts: [String], of task: TaskID, _ key: String) {
    search(texts, of: task) { "`\(key)` of `\($0)`" }
  }

  private mutating func search(_ texts: [String], of task: TaskID, _ place: (String) -> String) {
    for name in names(in: texts) {
      let known = places[name]
      if known?.last == task { continue }
      places[name] = (
        known?.first ?? place(plan.nameString(task)), task, known.map { $0.more + 1 } ?? 0
      )
    }
  }

  private mutating func note(_ texts: [String], _ place: String) {
    for name in names(in: texts) where places[name] == nil { places[name] = (place, .none, 0) }
  }

  private func names(in texts: [String]) -> [String] {
    texts.filter { masker.finds($0) }.flatMap { text in
      single.filter { $0.masker.finds(text) }.map(\.name)
    }
  }

  /// Also finds secrets in comments and unused values.
  private mutating func search(_ copy: Copy) {
    for (name, masker) in single where places[name] == nil {
      let start = copy.bytes.withUnsafeBytes { masker.firstFind(in: $0)?.lowerBound }
      guard let start else { continue }
      let line = copy.bytes[..<start].count { $0 == 10 } + 1
      places[name] = ("line \(line) of \(copy.name)", .none, 0)
    }
  }
}

extension LateItem {
  fileprivate var key: String {
    switch slot {
    case .condition: "if"
    case .environment: "env"
    case .word: "run"
    case .url, .sha256: "download"
    case .folder, nil: "needs"
    }
  }
}
