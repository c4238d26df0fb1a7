internal import OpflowBase
package import OpflowPlan
internal import OpflowWire

/// Encodes journal lines (JournalFormat.swift) into a buffer, which the caller writes and empties.
/// Counts SEQ and sessions: a gap in them is damage.
package struct JournalEncoder: Sendable {
  package private(set) var bytes: [UInt8] = []
  package private(set) var nextSequence: UInt64
  /// Of the next line. A run's `resume` increments it.
  package private(set) var drive: Int

  package init(nextSequence: UInt64 = 1, drive: Int = 1) {
    self.nextSequence = nextSequence
    self.drive = drive
  }

  package var isEmpty: Bool { bytes.isEmpty }

  package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  package mutating func append(_ entry: JournalEntry, at milliseconds: Int64, plan: Plan) {
    switch entry {
    case .transition(let transition): append(transition, at: milliseconds, plan: plan)
    case .open(let open): appendLine("open", at: milliseconds) { $0.write(open) }
    case .resume(let resume):
      drive += 1
      let drive = drive
      appendLine("resume", at: milliseconds) { $0.write(resume, drive: drive) }
    case .close(let close):
      let drive = drive
      appendLine("close", at: milliseconds) { $0.write(close, drive: drive) }
    case .stop(let stop):
      let drive = drive
      appendLine("stop", at: milliseconds) { $0.write(stop, drive: drive) }
    case .worker(let worker):
      let drive = drive
      appendLine("worker", at: milliseconds) { $0.write(worker, drive: drive) }
    case .site(let site):
      let drive = drive
      appendLine("site", at: milliseconds) { $0.write(site, drive: drive) }
    case .extend(let extend):
      let (drive, adder) = (drive, extend.adder)
      let name = adder.isNone ? Self.noName : plan.nameBytes(adder)
      appendLine("extend", of: name, at: milliseconds) { $0.write(extend, drive: drive) }
    case .withdraw(let withdraw):
      let drive = drive
      appendLine("withdraw", of: plan.nameBytes(withdraw.adder), at: milliseconds) {
        $0.write(withdraw, drive: drive)
      }
    case .order(let order):
      let drive = drive
      appendLine("order", at: milliseconds) { $0.write(order, drive: drive, plan: plan) }
    }
  }

  private mutating func appendLine(
    _ word: StaticString, of task: UnsafeRawBufferPointer = noName, at milliseconds: Int64,
    fields: (inout FieldWriter) -> Void
  ) {
    var writer = FieldWriter()
    fields(&writer)
    let sequence = nextSequence
    let start = bytes.count
    bytes.append(addingCapacity: 80 + 2 * task.count + writer.bytes.count) { line in
      line.appendHeader(sequence: sequence, milliseconds: milliseconds, word: word)
      line.appendEscaped(task)
      writer.bytes.withUnsafeBytes { line.appendBytes($0) }
      line.append(Field.lineFeed)
    }
    seal(from: start)
  }

  /// The hot path: allocates only when the buffer grows.
  package mutating func append(_ transition: Transition, at milliseconds: Int64, plan: Plan) {
    let sequence = nextSequence
    let drive = drive
    let start = bytes.count
    let task = transition.task.isNone ? Self.noName : plan.nameBytes(transition.task)
    let culpritTask = transition.why?.culprit ?? .none
    let culprit = culpritTask.isNone ? Self.noName : plan.nameBytes(culpritTask)
    // Numbers and keys fit in 512 bytes; escaping at most doubles a text.
    var fetched = FieldWriter()
    transition.fetch?.report.write(to: &fetched, withWhat: false)
    let texts = transition.what.utf8.count + (transition.left?.names.utf8.count ?? 0)
    if let with = transition.with {
      fetched.begin(.with)
      fetched.hexadecimal(with, digitCount: 16)
    }
    if let origin = transition.origin {
      fetched.begin(.origin)
      fetched.hexadecimal(origin, digitCount: 16)
    }
    if transition.isRestored { fetched.field(.restored, 1) }
    if let values = transition.values { fetched.field(.values, ValueList.text(values)) }
    if let left = transition.left, !left.processes.isEmpty {
      fetched.field(.pids, left.processesText)
    }
    let room = 512 + 2 * (task.count + culprit.count + texts) + fetched.bytes.count
    bytes.append(addingCapacity: room) { line in
      line.appendHeader(
        sequence: sequence, milliseconds: milliseconds, word: transition.event.kind.word)
      line.appendEscaped(task)
      line.append(transition, drive: drive)
      if !culprit.isEmpty {
        line.begin(.culprit)
        line.appendEscaped(culprit)
      }
      fetched.bytes.withUnsafeBytes { line.appendBytes($0) }
      line.append(Field.lineFeed)
    }
    seal(from: start)
  }

  private static var noName: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: nil, count: 0)
  }

  private mutating func seal(from start: Int) {
    let checksum = bytes.withUnsafeBytes { Hash.crc32c($0.part(start + 9, $0.count - 1)) }
    for digit in 0..<8 {
      let nibble = UInt8(truncatingIfNeeded: checksum >> UInt32(28 - 4 * digit)) & 15
      bytes[start + digit] = nibble < 10 ? 48 + nibble : 87 + nibble
    }
    nextSequence += 1
  }
}

extension OutputSpan<UInt8> {
  @inline(__always)
  fileprivate mutating func appendHeader(
    sequence: UInt64, milliseconds: Int64, word: StaticString
  ) {
    appendText("00000000\t")
    appendNumber(sequence)
    append(Field.tab)
    appendNumber(milliseconds)
    append(Field.tab)
    appendText(word)
    append(Field.tab)
  }

  @inline(__always)
  fileprivate mutating func append(_ transition: Transition, drive: Int) {
    if drive > 1 { append(.drive, drive) }
    appendUnlessZero(.attempt, transition.attempt)
    switch transition.event {
    case .start:
      if transition.worker != .none { append(.worker, transition.worker.rawValue) }
      if transition.isAhead { append(.ahead, 1) }
      appendWhat(of: transition)
      return
    case .pause, .proceed, .stopping: return
    case .ready: return appendWhat(of: transition)
    case .skip(let reason):
      begin(.reason)
      appendText(reason.word)
      return
    case .resume(let reason):
      begin(.reason)
      appendText(reason.word)
      if case .changed(let part?) = reason {
        begin(.part)
        for byte in part.word.utf8 { append(byte) }
      }
      if transition.isLate { append(.late, 1) }
      appendWhat(of: transition)
      return
    case .fresh:
      if transition.kept != nil { append(.kept, 1) }
      appendFingerprint(of: transition)
      return
    case .success, .failure, .retry, .cancel, .interrupt: break
    }
    append(transition.outcome)
    appendUnlessZero(.delay, transition.delayMilliseconds)
    if transition.allowed { append(.allowed, 1) }
    if transition.event == .success || transition.allowed { appendFingerprint(of: transition) }
    appendWhat(of: transition)
    if let left = transition.left {
      begin(.left)
      var text = left.text
      text.withUTF8 { appendEscaped(UnsafeRawBufferPointer($0)) }
    }
  }

  @inline(__always)
  private mutating func appendFingerprint(of transition: Transition) {
    begin(.fingerprint)
    appendHexadecimal(transition.fingerprint.whole, digitCount: 16)
    append(UInt8(ascii: "."))
    let parts = transition.fingerprint.parts
    appendHexadecimal(parts, digitCount: Swift.max(1, (67 - parts.leadingZeroBitCount) / 4))
  }

  @inline(__always)
  private mutating func appendWhat(of transition: Transition) {
    var what = transition.what
    if what.isEmpty { return }
    begin(.what)
    what.withUTF8 { appendEscaped(UnsafeRawBufferPointer($0)) }
  }
}

extension FieldWriter {
  fileprivate mutating func write(_ open: OpenEntry) {
    field(.format, open.format)
    field(.run, open.run)
    field(.plan, open.planKey)
    field(.version, open.opflowVersion)
    field(.manifest, open.manifestPath)
    field(.folder, open.folder)
    field(.state, open.stateFolder)
    fields(.set, open.set)
    fields(.tasks, open.tasks)
    fields(.args, open.arguments)
    fields(.only, open.only)
    fields(.skip, open.skip)
    fields(.env, open.environment)
    fields(.file, open.files)
    write(open.limits)
    fields(.on, open.on)
    fieldUnlessEmpty(.trace, open.trace?.text ?? "")
    fieldUnlessEmpty(.around, open.around?.text ?? "")
    if open.serves { field(.serve, 1) }
    fieldUnlessEmpty(.name, open.name)
  }

  fileprivate mutating func write(_ limits: DriveLimits) {
    fields(.capacity, limits.texts)
    // 0 means no limit and must be written.
    if let failures = limits.maxFailures { field(.failures, failures) }
  }

  fileprivate mutating func write(_ resume: ResumeEntry, drive: Int) {
    field(.drive, drive)
    field(.plan, resume.planKey)
    field(.version, resume.opflowVersion)
    fields(.set, resume.set)
    fields(.only, resume.only)
    fields(.skip, resume.skip)
    fields(.env, resume.environment)
    fields(.file, resume.files)
    field(.reused, resume.reused)
    field(.withdrawn, resume.withdrawn)
    fields(.removed, resume.removed)
    fields(.dropped, resume.dropped)
    write(resume.limits)
    fields(.on, resume.on)
    fieldUnlessEmpty(.trace, resume.trace?.text ?? "")
    fieldUnlessZero(.count, resume.taskCount)
    if resume.continues { field(.continues, 1) }
  }

  fileprivate mutating func write(_ extend: ExtendEntry, drive: Int) {
    if drive > 1 { field(.drive, drive) }
    fieldUnlessZero(.attempt, extend.attempt)
    field(.id, extend.id.text)
    write(extend.asker)
    field(.plan, extend.segmentKey)
    field(.count, extend.taskCount)
    field(.value, extend.added)
    field(.manifest, extend.manifestPath)
    field(.folder, extend.folder)
    fields(.file, extend.files)
    fieldUnlessEmpty(.copy, extend.copy)
  }

  fileprivate mutating func write(_ withdraw: WithdrawEntry, drive: Int) {
    if drive > 1 { field(.drive, drive) }
    fieldUnlessZero(.attempt, withdraw.attempt)
    fields(.dropped, withdraw.orders)
    field(.value, withdraw.count)
  }

  fileprivate mutating func write(_ close: CloseEntry, drive: Int) {
    if drive > 1 { field(.drive, drive) }
    field(.state, close.state.rawValue)
    field(.code, close.exitCode)
    field(.signal, close.signal)
  }

  fileprivate mutating func write(_ stop: StopEntry, drive: Int) {
    if drive > 1 { field(.drive, drive) }
    field(.signal, stop.signal)
    fieldUnlessEmpty(.what, stop.what)
  }

  fileprivate mutating func write(_ worker: WorkerEntry, drive: Int) {
    if drive > 1 { field(.drive, drive) }
    if worker.worker != .none { field(.worker, worker.worker.rawValue) }
    field(.pid, worker.pid)
    field(.start, worker.startTime)
    field(.boot, worker.bootID)
    field(.group, worker.autogroup)
    fieldUnlessEmpty(.host, worker.host)
    fieldUnlessZero(.site, worker.site.rawValue)
  }

  private mutating func write(_ asker: OrderAsker) {
    field(.by, asker.name)
    field(.pid, asker.pid)
    field(.uid, asker.user)
  }

  fileprivate mutating func write(_ order: OrderEntry, drive: Int, plan: Plan) {
    if drive > 1 { field(.drive, drive) }
    field(.id, order.id.text)
    field(.verb, order.verb.rawValue)
    write(order.asker)
    if order.expects > 0 { field(.expects, order.expects) }
    order.carried.write(to: &self)
    for task in order.tasks { field(.tasks, plan.nameString(task)) }
    for whole in order.fingerprints {
      begin(.fingerprint)
      hexadecimal(whole, digitCount: 16)
    }
    for task in order.back { field(.back, plan.nameString(task)) }
  }
}
