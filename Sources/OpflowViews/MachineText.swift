internal import OpflowCore

package enum MachineText {
  private static let mostNames = 3
  private static let mostColumns = 40

  /// Cleans and shortens a name, which the node chose itself.
  package static func name(_ host: String) -> String {
    let name = TextWidth.expandingTabs(CleanText.string(host))
    return name.allSatisfy { $0 == " " }
      ? "a machine without a name" : TextWidth.cutMiddle(name, to: mostColumns)
  }

  /// Returns ` on n2` for a task on a node; empty on the coordinator's machine.
  static func place(of task: TaskID, _ model: DriveModel) -> String {
    model.machines.machine(of: task).map { " on \(name($0.host))" } ?? ""
  }

  /// Returns a line about a node's change and its consequences; nil if it needs none.
  ///
  /// - Parameters:
  ///   - model: includes the change.
  ///   - before: the node's state before.
  static func change(_ entry: SiteEntry, from before: SiteState?, _ model: DriveModel) -> String? {
    let name = name(entry.host)
    let what = CleanText.string(entry.what)
    let why = what.isEmpty ? "" : " (\(what))"
    switch entry.state {
    // The first start there shows that a node joined. The fate of a silent one is reported later.
    case .joined, .silent: return nil
    case .leaving: return "\(name) is about to go\(why): nothing new starts there"
    case .shunned: return what.isEmpty ? "\(name): nothing more starts there" : "\(name): \(what)"
    case .readmitted: return "\(name) is used again" + (what.isEmpty ? "" : ": \(what)")
    case .lost:
      let tasks = model.machines.tasks(
        lostWith: entry.site, running: model.running.map(\.task))
      let lost = "\(name) is \(before == .leaving ? "gone" : "lost")\(why)"
      return tasks.isEmpty ? lost : "\(lost): \(follows(tasks, model))"
    }
  }

  /// `3 tasks run elsewhere: a, b, c`
  private static func follows(_ tasks: [TaskID], _ model: DriveModel) -> String {
    let isOne = tasks.count == 1
    let verb =
      model.machines.hostsInUse.isEmpty
      ? "\(isOne ? "waits" : "wait") for a machine" : "\(isOne ? "runs" : "run") elsewhere"
    let names = NameList.text(tasks, plan: model.plan, limit: mostNames)
    return "\(isOne ? "1 task" : "\(tasks.count) tasks") \(verb): \(names)"
  }

  /// `3 (n1 n2 n3)`, with as many names as fit.
  static func list(_ hosts: [String], columns: Int) -> String {
    var names = ""
    for (place, host) in hosts.enumerated() {
      let name = name(host)
      if TextWidth.of(names) + TextWidth.of(name) + 1 > columns {
        names += place == 0 ? "…" : " …"
        break
      }
      names += (place == 0 ? "" : " ") + name
    }
    return hosts.isEmpty ? "none" : "\(hosts.count) (\(names))"
  }
}
