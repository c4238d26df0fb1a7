package import OpflowJournal
package import OpflowPlan
internal import OpflowWire

package enum StatusJSON {
  package static func text(
    _ status: RunStatus, nowMilliseconds: Int64, logPath: (TaskID) -> String?
  ) -> [UInt8] {
    let tasks = status.plan.tasks.lazy.map { TaskID($0) }.filter { status.included.contains($0) }
    return JSONWriter.line { json in
      json.add("run", status.run)
      json.add("name", status.name)
      json.add("state", status.state.rawValue)
      if let arguments = status.history.open?.arguments, !arguments.isEmpty {
        json.add("arguments", arguments)
      }
      json.add("counts", status.counts)
      StatusRequests(status).write(into: &json)
      StatusRequests(status).writeExtensions(into: &json)
      writeMatrixGroups(status, into: &json)
      if status.state == .running, let awaited = status.awaited { json.add("waits", awaited) }
      if !status.history.nodes.all.isEmpty { json.add("machines", status.history.nodes) }
      json.objects("tasks", tasks) { json, task in
        write(task, status, nowMilliseconds, logPath(task), into: &json)
      }
    }
  }

  private static func write(
    _ task: TaskID, _ status: RunStatus, _ nowMilliseconds: Int64, _ log: String?,
    into json: inout JSONWriter
  ) {
    let record = status.history[task]
    json.add("id", status.plan.nameBytes(task))
    if let matrixGroup = status.plan.matrixGroup(of: task) {
      writeInstance(task, of: matrixGroup, status, into: &json)
    }
    json.add("state", status.state(task).word)
    if status.state(task) == .failedAllowed { json.add("allowed", true) }
    json.add("attempts", record.attempts)
    json.add(record.status)
    json.add("started_ms", record.startedMilliseconds > 0 ? record.startedMilliseconds : nil)
    json.add("ended_ms", record.endedMilliseconds > 0 ? record.endedMilliseconds : nil)
    if !status.history.nodes.all.isEmpty {
      json.add("host", status.history.node(of: task)?.offer.host)
    }
    if let next = status.nextTry(task) { json.add("next_try_ms", next) }
    if record.isRestored { json.add("restored", true) }
    json.add("reason", status.reasonWord(task))
    json.add("waits_for", status.waitsFor(task), status.plan)
    json.add("log", log)
    if !status.history.requests.all.isEmpty { StatusRequests(status).write(task, into: &json) }
    if let inner = status.inner[task] { json.add("inner_run", inner) }
    if status.plan.kind(task) == .approve { writeApproval(task, status, into: &json) }
    if status.plan.isService(task) {
      json.add("ready", status.isReady(task))
      json.add("stopping", status.isStopping(task))
      json.add("ports", status.isReady(task) ? status.history.details.ports[task] : nil)
    }
    if status.plan.kind(task) == .download {
      json.addDownload(
        task, status.plan, status.report(task), status.progress(task), status.keptBytes[task],
        nowMilliseconds)
    }
  }

  private static func writeApproval(
    _ task: TaskID, _ status: RunStatus, into json: inout JSONWriter
  ) {
    json.add("question", status.plan.question(task))
    json.key("answer")
    guard let answer = status.history.requests.answer(to: task) else { return json.null() }
    json.object { json in
      json.add("verb", answer.verb.rawValue)
      json.fields(of: answer.requester)
    }
  }

  private static func writeMatrixGroups(_ status: RunStatus, into json: inout JSONWriter) {
    if status.plan.matrixGroups.isEmpty { return }
    json.array("families", status.plan.matrixGroups.indices) { json, index in
      let matrixGroup = MatrixGroupID(index)
      let isIncluded = status.plan.instances(matrixGroup).contains {
        status.included.contains(TaskID($0))
      }
      if isIncluded { MatrixGroupStatus(matrixGroup, status).write(into: &json) }
    }
  }

  private static func writeInstance(
    _ task: TaskID, of matrixGroup: MatrixGroupID, _ status: RunStatus, into json: inout JSONWriter
  ) {
    let plan = status.plan
    json.add("family", plan.matrixGroupName(matrixGroup))
    json.object("matrix") { json in
      for (axis, value) in zip(plan.axes(matrixGroup), plan.instanceValues(task, of: matrixGroup)) {
        json.key(plan.text(axis))
        json.string(plan.text(value))
      }
    }
  }
}

extension JSONWriter {
  mutating func add(_ key: StaticString, _ ports: ServicePorts?) {
    object(key) { json in
      for port in ports?.all ?? [] {
        Array(port.name.utf8).withUnsafeBytes { json.key($0) }
        json.number(port.number)
      }
    }
  }

  package mutating func add(_ key: StaticString, _ counts: TaskCounts) {
    object(key) { json in
      json.add("pending", counts.pending)
      json.add("running", counts.running)
      json.add("suspended", counts.suspended)
      json.add("asking", counts.asking)
      json.add("succeeded", counts.succeeded)
      json.add("failed", counts.failed)
      json.add("failed_allowed", counts.failedAllowed)
      json.add("skipped", counts.skipped)
      json.add("cancelled", counts.cancelled)
      json.add("up_to_date", counts.upToDate)
    }
  }

  mutating func add(_ key: StaticString, _ run: InnerRun) {
    object(key) { json in
      json.add("run", run.run.description)
      json.add("counts", run.counts)
    }
  }

  mutating func add(_ key: StaticString, _ tasks: [TaskID], _ plan: Plan) {
    array(key, tasks) { $0.string(plan.nameBytes($1)) }
  }

  mutating func add(_ key: StaticString, _ requester: Requester?) {
    guard let requester else {
      self.key(key)
      return null()
    }
    object(key) { $0.fields(of: requester) }
  }

  mutating func fields(of requester: Requester) {
    add("by", requester.name)
    add("pid", requester.pid)
    add("uid", requester.user)
  }

  mutating func add(_ key: StaticString, _ nodes: NodeRecords) {
    objects(key, nodes.all) { json, node in
      json.add("host", node.offer.host)
      json.add("state", node.state.rawValue)
      json.add("drive", node.session)
      json.fields(ofOffer: node.offer)
      json.add("joined_ms", node.joinedMilliseconds)
      json.add("state_ms", node.stateMilliseconds)
      if !node.detail.isEmpty { json.add("what", node.detail) }
    }
  }

  /// Unknown amounts are null.
  mutating func fields(ofOffer entry: NodeEntry) {
    add("cores", entry.cores > 0 ? entry.cores : nil)
    add("memory_bytes", entry.memoryBytes > 0 ? entry.memoryBytes : nil)
    add("gpus", entry.gpus)
  }

  mutating func fields(of entry: ExtendEntry, _ plan: Plan) {
    fields(of: entry.requester)
    if !entry.generator.isNone {
      add("task", plan.nameBytes(entry.generator))
      add("attempt", entry.attempt)
    }
    add("file", entry.manifestPath)
    add("added", entry.added)
  }

  /// `download` always has all keys; unknown values are null. `keptBytes` is the size of the
  /// partial file of an interrupted or failed download.
  mutating func addDownload(
    _ task: TaskID, _ plan: Plan, _ report: FetchReport?, _ progress: DownloadProgress? = nil,
    _ keptBytes: Int64? = nil, _ nowMilliseconds: Int64 = 0
  ) {
    func known(_ text: String?) -> String? { text?.isEmpty == true ? nil : text }
    object("download") { json in
      json.add("to", plan.downloadTarget(task))
      json.add("done_bytes", progress?.doneBytes ?? report?.sizeBytes ?? keptBytes)
      json.add("total_bytes", progress?.totalBytes ?? report?.sizeBytes)
      json.add("resumed_bytes", progress?.resumedBytes ?? report?.resumedBytes)
      json.add("bytes_per_second", progress?.bytesPerSecond(at: nowMilliseconds))
      json.add("seconds_left", progress?.secondsLeft(at: nowMilliseconds))
      json.add("kept", report?.isKept)
      json.add("sha256", known(report?.sha256))
      json.add("sha512", known(report?.sha512))
      json.add("url", known(report?.url))
    }
  }
}
