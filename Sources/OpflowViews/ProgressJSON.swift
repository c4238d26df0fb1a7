internal import OpflowJournal
internal import OpflowPlan
internal import OpflowWire

/// The lines of `--json`: one object per event; the first and the last are about the run.
enum ProgressJSON {
  static func open(
    _ heading: ProgressHeading, _ model: SessionModel, atMilliseconds now: Int64
  ) -> [UInt8] {
    line(heading.isResumed ? "reopen" : "open", now) { json in
      json.add("run", heading.run)
      json.add("name", model.plan.text(model.plan.manifest.name))
      json.add("tasks", model.total)
      json.add("reused", model.reused)
    }
  }

  static func close(
    _ close: CloseEntry, _ heading: ProgressHeading, atMilliseconds now: Int64
  ) -> [UInt8] {
    line("close", now) { json in
      json.add("run", heading.run)
      json.add("state", close.state.rawValue)
      json.add("exit", close.exitCode)
    }
  }

  /// nil for events without a line. `model` includes the event; `known` is the plan before it.
  static func line(
    _ event: SessionEvent, _ model: SessionModel, _ known: Plan, atMilliseconds now: Int64
  ) -> [UInt8]? {
    switch event {
    case .entry(let entry, _, _): line(entry, model, known, now)
    case .began(let task, let attempt):
      transition(Transition(.start, task, attempt: attempt), model, now)
    case .wait(_, let detail?, _): line("wait", now) { $0.add("what", detail) }
    case .wait, .waitEnded, .download, .requestFailed, .warning, .note, .passage: nil
    }
  }

  private static func line(
    _ entry: JournalEntry, _ model: SessionModel, _ known: Plan, _ now: Int64
  ) -> [UInt8]? {
    switch entry {
    case .transition(let entry): transition(entry, model, now)
    case .request(let request):
      line("order", now) { json in
        json.add("verb", request.verb.rawValue)
        json.fields(of: request.requester)
        json.add("tasks", request.tasks, model.plan)
        if !request.carried.resource.isEmpty { json.add("resource", request.carried.resource) }
        if let value = request.carried.number { json.add("value", value) }
      }
    case .extend(let extend):
      line("extend", now) { json in
        json.fields(of: extend, model.plan)
        json.add("tasks", model.total)
      }
    case .retract(let retract):
      line("withdraw", now) { json in
        if !retract.generator.isNone { json.add("task", model.plan.nameBytes(retract.generator)) }
        json.add("attempt", retract.attempt)
        json.add("ids", model.plan.tasks(renamedSince: known), known)
        json.add("tasks", model.total)
      }
    case .stop(let stop):
      line("stop", now) { json in
        json.add("signal", stop.signal)
        if !stop.detail.isEmpty { json.add("what", stop.detail) }
      }
    case .node(let node):
      line("machine", now) { json in
        json.add("host", node.host)
        json.add("state", node.state.rawValue)
        if node.state == .joined { json.fields(ofOffer: node) }
        if !node.detail.isEmpty { json.add("what", node.detail) }
      }
    case .open, .resume, .close, .worker: nil
    }
  }

  private static func transition(
    _ transition: Transition, _ model: SessionModel, _ now: Int64
  ) -> [UInt8] {
    let (plan, task) = (model.plan, transition.task)
    let isEmpty = transition.event == .success && plan.hasEmptyMatrix(task)
    let event: TransitionKind = isEmpty ? .skip : transition.event.kind
    return line(event.word.description, now) { json in
      if !task.isNone { json.add("task", plan.nameBytes(task)) }
      if transition.attempt > 0 { json.add("attempt", transition.attempt) }
      if transition.event == .start, let machine = model.machines.machine(of: task) {
        json.add("host", machine.host)
      }
      if transition.endsTry {
        json.fields(ofTry: transition)
        if transition.event == .success, let fetch = transition.fetch {
          json.addDownload(task, plan, fetch.report)
        }
      }
      if transition.event == .ready { json.add("ports", ServicePorts(text: transition.detail)) }
      if let left = transition.left {
        json.add("left_behind", left.count)
        json.add("left_names", left.names)
        if left.areAlive { json.add("left_alive", true) }
      }
      if transition.event == .retry { json.add("delay_ms", transition.delayMilliseconds) }
      guard let why = isEmpty ? .skipped(.emptyMatrix) : transition.why else { return }
      json.add("reason", why.word.description)
      if !why.culprit.isNone { json.add("of", plan.nameBytes(why.culprit)) }
      if let part = why.changedPart { json.add("part", part.word) }
    }
  }

  static func missing(_ lines: Int, atMilliseconds now: Int64) -> [UInt8] {
    line("missing", now) { $0.add("lines", lines) }
  }

  private static func line(
    _ event: String, _ now: Int64, _ body: (inout JSONWriter) -> Void
  ) -> [UInt8] {
    JSONWriter.line { json in
      json.add("time_ms", now)
      json.add("event", event)
      body(&json)
    }
  }
}

extension JSONWriter {
  fileprivate mutating func fields(ofTry transition: Transition) {
    let usage = transition.outcome.usage
    add(transition.outcome.status)
    if transition.event == .failure { add("allowed", transition.allowed) }
    add("wall_us", usage.wallMicroseconds)
    add("user_us", usage.userMicroseconds)
    add("system_us", usage.systemMicroseconds)
    add("peak_kib", usage.peakKibibytes)
    add("output_bytes", usage.outputBytes)
  }
}
