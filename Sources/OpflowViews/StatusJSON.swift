package import OpflowCore

/// The object of `opflow status --json`.
package enum StatusJSON {
  /// - Parameter logPath: returns the log of a task; nil if it printed nothing.
  package static func text(
    _ status: RunStatus, nowMilliseconds: Int64, logPath: (TaskID) -> String?
  ) -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    json.key("run")
    json.string(status.run)
    json.key("name")
    json.string(status.name)
    json.key("state")
    json.string(status.state.rawValue)
    if let arguments = status.history.open?.arguments, !arguments.isEmpty {
      json.key("arguments")
      json.beginArray()
      for argument in arguments { json.string(argument) }
      json.endArray()
    }
    json.key("counts")
    write(status.counts, into: &json)
    StatusOrders(status).write(into: &json)
    StatusOrders(status).writeExtensions(into: &json)
    writeFamilies(status, into: &json)
    if status.state == .running, let awaited = status.awaited {
      json.key("waits")
      json.string(awaited)
    }
    if !status.history.sites.all.isEmpty { MachineJSON.write(status.history.sites, into: &json) }
    json.key("tasks")
    json.beginArray()
    for index in status.plan.tasks where status.included.contains(TaskID(index)) {
      write(
        TaskID(index), status, nowMilliseconds, logPath(TaskID(index)), into: &json)
    }
    json.endArray()
    json.endObject()
    json.endLine()
    return json.bytes
  }

  package static func write(_ counts: TaskCounts, into json: inout JSONWriter) {
    json.beginObject()
    json.key("pending")
    json.number(counts.pending)
    json.key("running")
    json.number(counts.running)
    json.key("suspended")
    json.number(counts.suspended)
    json.key("asking")
    json.number(counts.asking)
    json.key("succeeded")
    json.number(counts.succeeded)
    json.key("failed")
    json.number(counts.failed)
    json.key("failed_allowed")
    json.number(counts.failedAllowed)
    json.key("skipped")
    json.number(counts.skipped)
    json.key("cancelled")
    json.number(counts.cancelled)
    json.key("up_to_date")
    json.number(counts.upToDate)
    json.endObject()
  }

  private static func write(
    _ task: TaskID, _ status: RunStatus, _ nowMilliseconds: Int64, _ log: String?,
    into json: inout JSONWriter
  ) {
    let record = status.history[task]
    json.beginObject()
    json.key("id")
    json.string(status.plan.nameBytes(task))
    if let family = status.plan.family(of: task) { writeLeg(task, of: family, status, into: &json) }
    json.key("state")
    json.string(status.state(task).word)
    if status.state(task) == .failedAllowed {
      json.key("allowed")
      json.bool(true)
    }
    json.key("attempts")
    json.number(record.attempts)
    json.key("exit")
    if case .exit(let code) = record.status { json.number(code) } else { json.null() }
    json.key("signal")
    if case .signal(let number) = record.status { json.number(number) } else { json.null() }
    json.key("started_ms")
    json.optional(record.startedMilliseconds > 0 ? record.startedMilliseconds : nil)
    json.key("ended_ms")
    json.optional(record.endedMilliseconds > 0 ? record.endedMilliseconds : nil)
    if !status.history.sites.all.isEmpty {
      json.key("host")
      if let site = status.history.site(of: task) {
        json.string(site.offer.host)
      } else {
        json.null()
      }
    }
    if let next = status.nextTry(task) {
      json.key("next_try_ms")
      json.number(next)
    }
    if record.isRestored {
      json.key("restored")
      json.bool(true)
    }
    json.key("reason")
    json.optional(status.reasonWord(task))
    json.key("waits_for")
    json.beginArray()
    for need in status.waitsFor(task) { json.string(status.plan.nameBytes(need)) }
    json.endArray()
    json.key("log")
    json.optional(log)
    if !status.history.orders.all.isEmpty { StatusOrders(status).write(task, into: &json) }
    if let inner = status.inner[task] {
      json.key("inner_run")
      inner.write(into: &json)
    }
    if status.plan.kind(task) == .approve { writeGate(task, status, into: &json) }
    if status.plan.isService(task) {
      json.key("ready")
      json.bool(status.isReady(task))
      json.key("stopping")
      json.bool(status.isStopping(task))
      json.key("ports")
      json.ports(status.isReady(task) ? status.history.details.ports[task] : nil)
    }
    if status.plan.kind(task) == .download {
      json.key("download")
      DownloadJSON(
        progress: status.progress(task), nowMilliseconds: nowMilliseconds,
        report: status.report(task), keptBytes: status.keptBytes[task]
      ).write(target: status.plan.downloadTarget(task), into: &json)
    }
    json.endObject()
  }

  private static func writeGate(
    _ task: TaskID, _ status: RunStatus, into json: inout JSONWriter
  ) {
    json.key("question")
    json.string(status.plan.question(task))
    json.key("answer")
    guard let answer = status.history.orders.answer(to: task) else { return json.null() }
    json.beginObject()
    json.key("verb")
    json.string(answer.verb.rawValue)
    json.key("by")
    json.string(answer.asker.name)
    json.key("pid")
    json.number(answer.asker.pid)
    json.key("uid")
    json.number(answer.asker.user)
    json.endObject()
  }

  private static func writeFamilies(_ status: RunStatus, into json: inout JSONWriter) {
    if status.plan.families.isEmpty { return }
    json.key("families")
    json.beginArray()
    for index in status.plan.families.indices {
      let family = FamilyID(index)
      let isIncluded = status.plan.legs(family).contains { status.included.contains(TaskID($0)) }
      if isIncluded { FamilyStatus(family, status).write(into: &json) }
    }
    json.endArray()
  }

  private static func writeLeg(
    _ task: TaskID, of family: FamilyID, _ status: RunStatus, into json: inout JSONWriter
  ) {
    let plan = status.plan
    json.key("family")
    json.string(plan.familyName(family))
    json.key("matrix")
    json.beginObject()
    for (axis, value) in zip(plan.axes(family), plan.legValues(task, of: family)) {
      json.key(plan.text(axis))
      json.string(plan.text(value))
    }
    json.endObject()
  }
}

extension JSONWriter {
  /// Writes an object with the port numbers by name; empty if there are none.
  mutating func ports(_ ports: ServicePorts?) {
    beginObject()
    for port in ports?.all ?? [] {
      Array(port.name.utf8).withUnsafeBytes { key($0) }
      number(port.number)
    }
    endObject()
  }
}

enum MachineJSON {
  /// Writes the nodes of all sessions in the order in which they joined.
  static func write(_ sites: SiteRecords, into json: inout JSONWriter) {
    json.key("machines")
    json.beginArray()
    for site in sites.all {
      json.beginObject()
      json.key("host")
      json.string(site.offer.host)
      json.key("state")
      json.string(site.state.rawValue)
      json.key("drive")
      json.number(site.drive)
      writeOffer(of: site.offer, into: &json)
      json.key("joined_ms")
      json.number(site.joinedMilliseconds)
      json.key("state_ms")
      json.number(site.stateMilliseconds)
      if !site.what.isEmpty {
        json.key("what")
        json.string(site.what)
      }
      json.endObject()
    }
    json.endArray()
  }

  /// Writes the resources of a node, with null for unknown amounts.
  static func writeOffer(of entry: SiteEntry, into json: inout JSONWriter) {
    json.key("cores")
    json.optional(entry.cores > 0 ? entry.cores : nil)
    json.key("memory_bytes")
    json.optional(entry.memoryBytes > 0 ? entry.memoryBytes : nil)
    json.key("gpus")
    json.number(entry.gpus)
  }
}

/// Writes the JSON keys that describe an addition of tasks to a live run.
enum ExtendJSON {
  static func write(_ entry: ExtendEntry, plan: Plan, into json: inout JSONWriter) {
    json.fields(of: entry.asker)
    if !entry.adder.isNone {
      json.key("task")
      json.string(plan.nameBytes(entry.adder))
      json.key("attempt")
      json.number(entry.attempt)
    }
    json.key("file")
    json.string(entry.manifestPath)
    json.key("added")
    json.number(entry.added)
  }
}

/// The value of `download` in JSON. It always has all keys, with null for unknown values.
struct DownloadJSON {
  /// Set while the download runs.
  var progress: DownloadProgress?
  /// The time at which `progress` is evaluated.
  var nowMilliseconds: Int64 = 0
  /// Set after a success.
  var report: FetchReport?
  /// The size of the partial file of an interrupted or failed download.
  var keptBytes: Int64?

  func write(target: UnsafeRawBufferPointer, into json: inout JSONWriter) {
    json.beginObject()
    json.key("to")
    json.string(target)
    json.key("done_bytes")
    json.optional(progress?.doneBytes ?? report?.sizeBytes ?? keptBytes)
    json.key("total_bytes")
    json.optional(progress?.totalBytes ?? report?.sizeBytes)
    json.key("resumed_bytes")
    json.optional(progress?.resumedBytes ?? report?.resumedBytes)
    json.key("bytes_per_second")
    json.optional(progress?.bytesPerSecond(at: nowMilliseconds))
    json.key("seconds_left")
    json.optional(progress?.secondsLeft(at: nowMilliseconds))
    json.key("kept")
    if let report { json.bool(report.isKept) } else { json.null() }
    json.key("sha256")
    json.optional(Self.known(report?.sha256))
    json.key("sha512")
    json.optional(Self.known(report?.sha512))
    json.key("url")
    json.optional(Self.known(report?.url))
    json.endObject()
  }

  private static func known(_ text: String?) -> String? { text?.isEmpty == true ? nil : text }
}
