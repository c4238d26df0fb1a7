internal import OpflowBase
internal import OpflowJournal
package import OpflowPlan
internal import OpflowWire

package enum ActionText {
  /// The first line of the command, question or URL, cut to 200 characters.
  package static func text(_ task: TaskID, plan: Plan) -> String {
    switch plan.kind(task) {
    case .shell: return shortened(String(decoding: plan.script(task), as: UTF8.self))
    case .command: return text(ofWords: plan.words(task).map { plan.string($0) })
    case .approve: return shortened(String(decoding: plan.question(task), as: UTF8.self))
    case .block: return "external task, done by a client"
    case .download:
      let source = plan.download(task).sources.first ?? ""
      return shortened("download \(Credentials.hidden(inAddress: source))")
    }
  }

  static func text(ofWords words: [String]) -> String {
    shortened(words.map { QuotedWords.quoted($0) }.joined(separator: " "))
  }

  private static func shortened(_ text: String) -> String {
    let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: true)
    let first = CleanText.string(String(lines.first ?? ""))
    let cut = String(first.prefix(200))
    return cut.count < first.count || lines.count > 1 ? cut + " …" : cut
  }
}

enum ApprovalText {
  static func question(_ task: TaskID, plan: Plan) -> String { ActionText.text(task, plan: plan) }

  static func wholeQuestion(_ task: TaskID, plan: Plan) -> String {
    String(decoding: plan.question(task), as: UTF8.self).split(separator: "\n")
      .map { CleanText.string(String($0)) }.joined(separator: " ")
  }

  static func asks(_ task: TaskID, plan: Plan) -> String {
    "asks for approval: \(question(task, plan: plan))"
  }

  static func howToAnswer(_ task: TaskID, plan: Plan, _ command: RequestLineText) -> String {
    let names = [plan.nameString(task)]
    return "\(command(.approve, names)) or \(command(.reject, names))"
  }

  static func whatAnswers(_ task: TaskID, plan: Plan, _ command: RequestLineText) -> String {
    "to answer: \(howToAnswer(task, plan: plan, command))"
  }

  static func answered(_ answer: RequestRecords.Record) -> String {
    "\(answer.verb == .approve ? "approved" : "rejected") by \(answer.requester.words)"
  }
}

extension ControlAction {
  /// The command line without options that name the run.
  @Sendable
  package static func plainCommand(_ verb: ControlAction, _ tasks: [String]) -> String {
    (["opflow", verb.rawValue] + tasks.map(QuotedWords.quoted)).joined(separator: " ")
  }
}

package enum NameList {
  /// `a, b, c … and 4 more`
  package static func text(_ tasks: some Collection<TaskID>, plan: Plan, limit: Int) -> String {
    text(tasks, limit: limit) { plan.nameString($0) }
  }

  static func text<Items: Collection>(
    _ items: Items, limit: Int, _ name: (Items.Element) -> String
  ) -> String {
    let shown = items.prefix(limit).map(name).joined(separator: ", ")
    return items.count > limit ? "\(shown) … and \(items.count - limit) more" : shown
  }
}

package enum MachineText {
  private static let mostNames = 3
  private static let mostColumns = 40

  /// Cleans and shortens a name, which the node chose itself.
  package static func name(_ host: String) -> String {
    let name = TextWidth.expandingTabs(CleanText.string(host))
    return name.allSatisfy { $0 == " " }
      ? "(unnamed)" : TextWidth.cutMiddle(name, to: mostColumns)
  }

  /// ` on n2` for a task on a node; empty on the coordinator's machine.
  static func place(of task: TaskID, _ model: SessionModel) -> String {
    model.machines.machine(of: task).map { " on \(name($0.host))" } ?? ""
  }

  /// `model` includes the change.
  static func change(_ entry: NodeEntry, from before: NodeState?, _ model: SessionModel) -> String?
  {
    let name = name(entry.host)
    let detail = CleanText.string(entry.detail)
    let why = detail.isEmpty ? "" : " (\(detail))"
    switch entry.state {
    // The first start there shows that a node joined. The end of a silent node is reported later.
    case .joined, .silent: return nil
    case .leaving: return "node \(name) is leaving\(why); no further task starts there"
    case .quarantined:
      return "node \(name)" + (detail.isEmpty ? ": no further task starts there" : ": \(detail)")
    case .readmitted: return "node \(name) is used again" + (detail.isEmpty ? "" : ": \(detail)")
    case .lost:
      let tasks = model.machines.tasks(lostWith: entry.node, running: model.running.map(\.task))
      let lost = "node \(name) is \(before == .leaving ? "gone" : "lost")\(why)"
      return tasks.isEmpty ? lost : "\(lost): \(follows(tasks, model))"
    }
  }

  /// `3 tasks run on another node: a, b, c`
  private static func follows(_ tasks: [TaskID], _ model: SessionModel) -> String {
    let isOne = tasks.count == 1
    let verb =
      model.machines.hostsInUse.isEmpty
      ? "\(isOne ? "waits" : "wait") for a node" : "\(isOne ? "runs" : "run") on another node"
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

enum DownloadText {
  /// `54.0MiB of 200.0MiB (27%), 11.2MiB/s, 13s left`
  static func running(
    _ progress: DownloadProgress, atMilliseconds now: Int64, tellsResume: Bool
  ) -> String {
    var text = done(progress)
    if tellsResume, progress.resumedBytes > 0 {
      text += ", resumed at \(size(progress.resumedBytes))"
    }
    let throughput = throughput(progress, atMilliseconds: now).filter { !$0.isEmpty }
    return ([text] + throughput).joined(separator: ", ")
  }

  /// `54.0MiB of 200.0MiB (27%)`
  static func done(_ progress: DownloadProgress) -> String {
    let done = size(progress.doneBytes)
    guard let total = progress.totalBytes, let percent = progress.percent else { return done }
    return "\(done) of \(size(total)) (\(percent)%)"
  }

  /// Speed and time left, or the duration of a stall.
  static func throughput(_ progress: DownloadProgress, atMilliseconds now: Int64) -> [String] {
    if let silence = progress.stalledMilliseconds(at: now) {
      return ["stalled for \(DurationText.text(wholeSeconds: silence / 1000))", ""]
    }
    let bytesPerSecond = progress.bytesPerSecond(at: now)
    if bytesPerSecond == 0 { return ["", ""] }
    let left = progress.secondsLeft(at: now).map { "\(DurationText.text(wholeSeconds: $0)) left" }
    return [speed(bytesPerSecond), left ?? ""]
  }

  /// `200.0MiB at 10.0MiB/s, resumed at 50.0MiB`
  static func finished(_ report: FetchReport, wallMicroseconds: Int64) -> String {
    var text = size(report.sizeBytes)
    if report.isKept { return text + ", already there" }
    if let speed = averageSpeed(report, wallMicroseconds: wallMicroseconds) {
      text += " at \(self.speed(speed))"
    }
    if report.resumedBytes > 0 { text += ", resumed at \(size(report.resumedBytes))" }
    return text
  }

  static func otherURL(_ report: FetchReport, firstSource: String) -> String? {
    if report.url.isEmpty { return nil }
    // The report's URL is normalized, and cut if long.
    let first = Credentials.hidden(inAddress: firstSource)
    return first.hasPrefix(report.url) ? nil : CleanText.string(report.url)
  }

  /// In bytes per second; nil if too little was fetched.
  static func averageSpeed(_ report: FetchReport, wallMicroseconds: Int64) -> Int64? {
    let fetched = report.fetchedBytes
    guard wallMicroseconds > 0, fetched >= 1 << 20 || wallMicroseconds >= 1_000_000, fetched > 0
    else { return nil }
    return Int64(min(Double(fetched) * 1e6 / Double(wallMicroseconds), 1e18))
  }

  static func size(_ bytes: Int64) -> String { SizeText.steady(bytes: UInt64(max(0, bytes))) }
  static func speed(_ bytesPerSecond: Int64) -> String { size(bytesPerSecond) + "/s" }
}
