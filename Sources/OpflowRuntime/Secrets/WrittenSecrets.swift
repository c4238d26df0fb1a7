internal import OpflowCore

/// Finds values of secrets that reach a plan by another way than `secrets`: written in the manifest, or
/// come from another variable of the environment, a file of variables, a sheet, the name of a file. What
/// is in a plan is written down, and shown.
struct WrittenSecrets {
  private let plan: Plan
  private let masker: Masker
  private let single: [(name: String, masker: Masker)]
  /// Texts that were looked through, since tasks share many.
  private var seen: Set<TextRef> = []
  /// By secret, where it stands first, and in how many tasks behind that one.
  private var places: [String: (first: String, last: TaskID, more: Int)] = [:]

  /// A warning for each such secret, with no value in it. Most plans have none, and are gone through once.
  static func warnings(_ secrets: [SecretValue], in plan: Plan) -> [String] {
    guard let masker = Masker(secrets), masker.finds(plan.allTexts) else { return [] }
    var written = WrittenSecrets(
      plan: plan, masker: masker,
      single: secrets.compactMap { secret in Masker([secret]).map { (secret.name, $0) } })
    for index in plan.tasks { written.look(at: TaskID(index)) }
    return secrets.compactMap { secret in
      written.places[secret.name].map { place in
        masker.masked(
          "the value of the secret `\(secret.name)` stands in \(place.first)\(more(place.more)), which is"
            + " written down and shown: have it in `secrets` alone")
      }
    }
  }

  private static func more(_ count: Int) -> String {
    count == 0 ? "" : count == 1 ? ", and in another task" : ", and in \(count) other tasks"
  }

  private init(plan: Plan, masker: Masker, single: [(name: String, masker: Masker)]) {
    self.plan = plan
    self.masker = masker
    self.single = single
  }

  private mutating func look(at task: TaskID) {
    let record = plan.record(task)
    look(in: [plan.nameString(task)]) { "the id `\($0)`" }
    look(at: record.script) { "`run` of `\($0)`" }
    for word in plan.words(task) { look(at: word) { "`run` of `\($0)`" } }
    for item in plan.environmentList(record.environment) {
      let plan = plan
      look(at: item.value) { "the variable `\(plan.string(item.name))` of `\($0)`" }
    }
    look(at: record.directory) { "`dir` of `\($0)`" }
    // Names of secrets are known to everybody.
    for text in TaskText.allCases where text != .secrets {
      for place in plan.texts(text, of: task) { look(at: place) { "`\(text.word)` of `\($0)`" } }
    }
    if plan.kind(task) == .download {
      let download = plan.download(task)
      look(in: download.sources + [download.target]) { "`download` of `\($0)`" }
    }
    if let family = plan.family(of: task) {
      for value in plan.legValues(task, of: family) { look(at: value) { "`matrix` of `\($0)`" } }
    }

    func look(at text: TextRef, _ place: (String) -> String) {
      guard text.length >= SecretValue.shortestBytes, seen.insert(text).inserted else { return }
      look(in: [plan.string(text)], place)
    }
    func look(in texts: [String], _ place: (String) -> String) {
      for text in texts where masker.finds(text) {
        for (name, masker) in single where masker.finds(text) {
          let known = places[name]
          if known?.last == task { continue }
          places[name] = (
            known?.first ?? place(plan.nameString(task)), task, known.map { $0.more + 1 } ?? 0
          )
        }
      }
    }
  }
}
