internal import OpflowJournal
internal import OpflowPlan
internal import OpflowWire

/// The lines of `--json`: one object per transition; the first and the last are about the run.
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

  static func transition(
    _ transition: Transition, host: String?, plan: Plan, atMilliseconds now: Int64
  ) -> [UInt8] {
    let isEmpty = transition.event == .success && plan.hasEmptyMatrix(transition.task)
    let event: TransitionKind = isEmpty ? .skip : transition.event.kind
    return line(event.word.description, now) { json in
      if !transition.task.isNone { json.add("task", plan.nameBytes(transition.task)) }
      if transition.attempt > 0 { json.add("attempt", transition.attempt) }
      if transition.event == .start, let host { json.add("host", host) }
      if transition.endsTry {
        end(transition, into: &json)
        if transition.event == .success, let fetch = transition.fetch {
          DownloadJSON(report: fetch.report)
            .write(target: plan.downloadTarget(transition.task), into: &json)
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

  static func order(_ order: RequestEntry, plan: Plan, atMilliseconds now: Int64) -> [UInt8] {
    line("order", now) { json in
      json.add("verb", order.verb.rawValue)
      json.fields(of: order.requester)
      json.add("tasks", order.tasks, plan)
      if !order.carried.resource.isEmpty { json.add("resource", order.carried.resource) }
      if let value = order.carried.number { json.add("value", value) }
    }
  }

  /// Writes an addition: the requester, the number of tasks, and the session's new total.
  static func extend(
    _ entry: ExtendEntry, _ model: SessionModel, atMilliseconds now: Int64
  ) -> [UInt8] {
    line("extend", now) { json in
      ExtendJSON.write(entry, plan: model.plan, into: &json)
      json.add("tasks", model.total)
    }
  }

  /// Writes a retraction: the generator and its try, the IDs, and the session's new total.
  static func retract(
    _ entry: RetractEntry, _ ids: [String], _ model: SessionModel, atMilliseconds now: Int64
  ) -> [UInt8] {
    line("withdraw", now) { json in
      if !entry.generator.isNone { json.add("task", model.plan.nameBytes(entry.generator)) }
      json.add("attempt", entry.attempt)
      json.add("ids", ids)
      json.add("tasks", model.total)
    }
  }

  static func stop(_ stop: StopEntry, atMilliseconds now: Int64) -> [UInt8] {
    line("stop", now) { json in
      json.add("signal", stop.signal)
      if !stop.detail.isEmpty { json.add("what", stop.detail) }
    }
  }

  static func machine(_ entry: NodeEntry, atMilliseconds now: Int64) -> [UInt8] {
    line("machine", now) { json in
      json.add("host", entry.host)
      json.add("state", entry.state.rawValue)
      if entry.state == .joined { MachineJSON.writeOffer(of: entry, into: &json) }
      if !entry.detail.isEmpty { json.add("what", entry.detail) }
    }
  }

  static func wait(_ detail: String, atMilliseconds now: Int64) -> [UInt8] {
    line("wait", now) { $0.add("what", detail) }
  }

  /// Returns the line for lines that were dropped because the reader was slow.
  static func missing(_ lines: Int, atMilliseconds now: Int64) -> [UInt8] {
    line("missing", now) { $0.add("lines", lines) }
  }

  private static func end(_ transition: Transition, into json: inout JSONWriter) {
    let outcome = transition.outcome
    json.add(outcome.status)
    if transition.event == .failure { json.add("allowed", transition.allowed) }
    json.add("wall_us", outcome.usage.wallMicroseconds)
    json.add("user_us", outcome.usage.userMicroseconds)
    json.add("system_us", outcome.usage.systemMicroseconds)
    json.add("peak_kib", outcome.usage.peakKibibytes)
    json.add("output_bytes", outcome.usage.outputBytes)
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
