internal import OpflowCore

/// The lines of `--json`: one object per transition; the first and the last are about the run.
enum ProgressJSON {
  static func open(
    _ heading: ProgressHeading, _ model: DriveModel, atMilliseconds now: Int64,
    into text: inout TextBuffer
  ) {
    line(heading.isResumed ? "reopen" : "open", now, into: &text) { json in
      json.key("run")
      json.string(heading.run)
      json.key("name")
      json.string(model.plan.text(model.plan.manifest.name))
      json.key("tasks")
      json.number(model.total)
      json.key("reused")
      json.number(model.reused)
    }
  }

  static func close(
    _ close: CloseEntry, _ heading: ProgressHeading, atMilliseconds now: Int64,
    into text: inout TextBuffer
  ) {
    line("close", now, into: &text) { json in
      json.key("run")
      json.string(heading.run)
      json.key("state")
      json.string(close.state.rawValue)
      json.key("exit")
      json.number(close.exitCode)
    }
  }

  static func transition(
    _ transition: Transition, host: String?, plan: Plan, atMilliseconds now: Int64,
    into text: inout TextBuffer
  ) {
    let isEmpty = transition.event == .success && plan.hasEmptyMatrix(transition.task)
    let event: TransitionKind = isEmpty ? .skip : transition.event.kind
    line(event.word.description, now, into: &text) { json in
      if !transition.task.isNone {
        json.key("task")
        json.string(plan.nameBytes(transition.task))
      }
      if transition.attempt > 0 {
        json.key("attempt")
        json.number(transition.attempt)
      }
      if transition.event == .start, let host {
        json.key("host")
        json.string(host)
      }
      if transition.endsTry {
        end(transition, into: &json)
        if transition.event == .success, let fetch = transition.fetch {
          json.key("download")
          DownloadJSON(report: fetch.report)
            .write(target: plan.downloadTarget(transition.task), into: &json)
        }
      }
      if transition.event == .ready {
        json.key("ports")
        json.ports(ServicePorts(text: transition.what))
      }
      if let left = transition.left {
        json.key("left_behind")
        json.number(left.count)
        json.key("left_names")
        json.string(left.names)
        if left.areAlive {
          json.key("left_alive")
          json.bool(true)
        }
      }
      if transition.event == .retry {
        json.key("delay_ms")
        json.number(transition.delayMilliseconds)
      }
      guard let why = isEmpty ? .skipped(.emptyMatrix) : transition.why else { return }
      json.key("reason")
      json.string(why.word.description)
      if !why.culprit.isNone {
        json.key("of")
        json.string(plan.nameBytes(why.culprit))
      }
      if let part = why.changedPart {
        json.key("part")
        json.string(part.word)
      }
    }
  }

  static func order(
    _ order: OrderEntry, plan: Plan, atMilliseconds now: Int64, into text: inout TextBuffer
  ) {
    line("order", now, into: &text) { json in
      json.key("verb")
      json.string(order.verb.rawValue)
      json.fields(of: order.asker)
      json.key("tasks")
      json.beginArray()
      for task in order.tasks { json.string(plan.nameBytes(task)) }
      json.endArray()
      if !order.carried.resource.isEmpty {
        json.key("resource")
        json.string(order.carried.resource)
      }
      if let value = order.carried.number {
        json.key("value")
        json.number(value)
      }
    }
  }

  /// Writes an addition: the requester, the number of tasks, and the session's new total.
  static func extend(
    _ entry: ExtendEntry, _ model: DriveModel, atMilliseconds now: Int64,
    into text: inout TextBuffer
  ) {
    line("extend", now, into: &text) { json in
      ExtendJSON.write(entry, plan: model.plan, into: &json)
      json.key("tasks")
      json.number(model.total)
    }
  }

  /// Writes a retraction: the generator and its try, the IDs, and the session's new total.
  static func withdraw(
    _ entry: WithdrawEntry, _ ids: [String], _ model: DriveModel, atMilliseconds now: Int64,
    into text: inout TextBuffer
  ) {
    line("withdraw", now, into: &text) { json in
      if !entry.adder.isNone {
        json.key("task")
        json.string(model.plan.nameBytes(entry.adder))
      }
      json.key("attempt")
      json.number(entry.attempt)
      json.key("ids")
      json.beginArray()
      for id in ids { json.string(id) }
      json.endArray()
      json.key("tasks")
      json.number(model.total)
    }
  }

  static func stop(
    _ stop: StopEntry, atMilliseconds now: Int64, into text: inout TextBuffer
  ) {
    line("stop", now, into: &text) { json in
      json.key("signal")
      json.number(stop.signal)
      if !stop.what.isEmpty {
        json.key("what")
        json.string(stop.what)
      }
    }
  }

  static func machine(
    _ entry: SiteEntry, atMilliseconds now: Int64, into text: inout TextBuffer
  ) {
    line("machine", now, into: &text) { json in
      json.key("host")
      json.string(entry.host)
      json.key("state")
      json.string(entry.state.rawValue)
      if entry.state == .joined { MachineJSON.writeOffer(of: entry, into: &json) }
      if !entry.what.isEmpty {
        json.key("what")
        json.string(entry.what)
      }
    }
  }

  static func wait(_ what: String, atMilliseconds now: Int64, into text: inout TextBuffer) {
    line("wait", now, into: &text) { json in
      json.key("what")
      json.string(what)
    }
  }

  /// Returns the line for lines that were dropped because the reader was slow.
  static func missing(_ lines: Int, atMilliseconds now: Int64) -> [UInt8] {
    var text = TextBuffer()
    line("missing", now, into: &text) { json in
      json.key("lines")
      json.number(lines)
    }
    return text.take()
  }

  private static func end(_ transition: Transition, into json: inout JSONWriter) {
    let outcome = transition.outcome
    json.key("exit")
    if case .exit(let code) = outcome.status { json.number(code) } else { json.null() }
    json.key("signal")
    if case .signal(let number) = outcome.status { json.number(number) } else { json.null() }
    if transition.event == .failure {
      json.key("allowed")
      json.bool(transition.allowed)
    }
    json.key("wall_us")
    json.number(outcome.usage.wallMicroseconds)
    json.key("user_us")
    json.number(outcome.usage.userMicroseconds)
    json.key("system_us")
    json.number(outcome.usage.systemMicroseconds)
    json.key("peak_kib")
    json.number(outcome.usage.peakKibibytes)
    json.key("output_bytes")
    json.number(outcome.usage.outputBytes)
  }

  private static func line(
    _ event: String, _ now: Int64, into text: inout TextBuffer, _ body: (inout JSONWriter) -> Void
  ) {
    var json = JSONWriter()
    json.beginObject()
    json.key("time_ms")
    json.number(now)
    json.key("event")
    json.string(event)
    body(&json)
    json.endObject()
    json.endLine()
    text.add(json.bytes)
  }
}
