internal import OpflowBase
package import OpflowPlan
package import OpflowWire

/// The content of a line. JournalFormat.swift explains the fields.
package enum JournalEntry: Sendable, Equatable {
  // Rare entries are indirect, to keep transitions small.
  indirect case open(OpenEntry)
  indirect case resume(ResumeEntry)
  case close(CloseEntry)
  indirect case worker(WorkerEntry)
  indirect case request(RequestEntry)
  indirect case stop(StopEntry)
  indirect case node(NodeEntry)
  indirect case extend(ExtendEntry)
  indirect case retract(RetractEntry)
  case transition(Transition)
}

package struct OpenEntry: Sendable, Equatable {
  package static let currentFormat = 1
  package var format: Int = OpenEntry.currentFormat
  package var run: String
  package var planKey: String
  package var opflowVersion: String
  /// The real path; `-` for standard input.
  package var manifestPath: String
  package var set: [String] = []
  /// Selectors of the command line, for all sessions; empty for all tasks.
  package var tasks: [String] = []
  package var arguments: [String] = []
  package var only: [String] = []
  package var skip: [String] = []
  /// `NAME=HASH` of each variable that expressions read; the hash is `-` if unset.
  package var environment: [String] = []
  /// `HASH PATH` of each manifest file, root first; the path is relative to `folder` if within it.
  package var files: [String] = []
  package var limits = SessionLimits()
  package var on: [String] = []
  /// The base of relative paths for a manifest from standard input.
  package var folder: String
  /// The real path when the run began.
  package var stateFolder: String = ""
  package var trace: TraceParent?
  package var around: TaskAround?
  package var serves = false
  package var name = ""

  package init(
    run: String, planKey: String, opflowVersion: String, manifestPath: String, folder: String
  ) {
    self.run = run
    self.planKey = planKey
    self.opflowVersion = opflowVersion
    self.manifestPath = manifestPath
    self.folder = folder
  }

  mutating func list(_ pass: inout FieldPass) {
    pass.natural(.format, &format)
    pass.text(.run, &run, evenIfEmpty: true)
    pass.text(.plan, &planKey, evenIfEmpty: true)
    pass.text(.version, &opflowVersion, evenIfEmpty: true)
    pass.text(.manifest, &manifestPath, evenIfEmpty: true)
    pass.text(.folder, &folder, evenIfEmpty: true)
    pass.text(.state, &stateFolder, evenIfEmpty: true)
    pass.texts(.set, &set)
    pass.texts(.tasks, &tasks)
    pass.texts(.args, &arguments)
    pass.texts(.only, &only)
    pass.texts(.skip, &skip)
    pass.texts(.env, &environment)
    pass.texts(.file, &files)
    limits.list(&pass)
    pass.texts(.on, &on)
    pass.text(.trace, &trace, { TraceParent($0) }, { $0?.text })
    pass.text(.around, &around, { TaskAround($0) }, { $0?.text })
    pass.flag(.serve, &serves)
    pass.text(.name, &name)
  }
}

package struct ResumeEntry: Sendable, Equatable {
  package var planKey: String
  package var opflowVersion: String
  package var set: [String] = []
  package var only: [String] = []
  package var skip: [String] = []
  package var environment: [String] = []
  package var files: [String] = []
  package var limits = SessionLimits()
  package var on: [String] = []
  package var reused: Int = 0
  /// The number of tasks' `resume` lines that follow directly; shows if damage hides one.
  package var retracted: Int = 0
  package var removed: [String] = []
  /// Requests whose added tasks leave the run, since their generator runs again.
  package var dropped: [String] = []
  package var trace: TraceParent?
  /// 0 if no tasks were added.
  package var taskCount = 0
  /// Requests to the crashed session before this one still hold.
  package var continues = false

  package init(planKey: String, opflowVersion: String) {
    self.planKey = planKey
    self.opflowVersion = opflowVersion
  }

  mutating func list(_ pass: inout FieldPass) {
    pass.text(.plan, &planKey, evenIfEmpty: true)
    pass.text(.version, &opflowVersion, evenIfEmpty: true)
    pass.texts(.set, &set)
    pass.texts(.only, &only)
    pass.texts(.skip, &skip)
    pass.texts(.env, &environment)
    pass.texts(.file, &files)
    pass.natural(.reused, &reused, evenIfZero: true)
    pass.natural(.retracted, &retracted, evenIfZero: true)
    pass.texts(.removed, &removed)
    pass.texts(.dropped, &dropped)
    limits.list(&pass)
    pass.texts(.on, &on)
    pass.text(.trace, &trace, { TraceParent($0) }, { $0?.text })
    pass.natural(.count, &taskCount)
    pass.flag(.continues, &continues)
  }
}

package struct CloseEntry: Sendable, Equatable {
  package var state: RunState
  package var signal: Int32 = 0
  package var exitCode: Int32

  package init(state: RunState, exitCode: Int32, signal: Int32 = 0) {
    self.state = state
    self.exitCode = exitCode
    self.signal = signal
  }

  mutating func list(_ pass: inout FieldPass) {
    pass.text(.state, &state, RunState.init(rawValue:), \.rawValue)
    pass.number(.code, &exitCode, evenIfZero: true)
    pass.number(.signal, &signal, evenIfZero: true)
  }
}

/// A session begins to stop.
package struct StopEntry: Sendable, Equatable {
  package var signal: Int32
  /// Why no signal was sent: no node is left for the tasks, or `clientsGone`.
  package var detail: String

  package static let clientsGone = "the client that the run is for has ended"
  /// The text of earlier versions.
  private static let formerClientsGone = "the program has ended that the run is for"

  package init(signal: Int32, detail: String = "") {
    self.signal = signal
    self.detail = detail
  }

  mutating func list(_ pass: inout FieldPass) {
    pass.number(.signal, &signal, evenIfZero: true)
    pass.text(.detail, &detail)
    if detail == Self.formerClientsGone { detail = Self.clientsGone }
  }
}

package enum TransitionEvent: Equatable, Sendable {
  case start, success, failure, retry
  case skip(SkipReason)
  case cancel, interrupt, pause, proceed
  case resume(RerunReason)
  case fresh
  case ready
  /// The service was sent its stop signal.
  case stopping

  package var kind: TransitionKind {
    switch self {
    case .start: .start
    case .success: .success
    case .failure: .failure
    case .retry: .retry
    case .skip: .skip
    case .cancel: .cancel
    case .interrupt: .interrupt
    case .pause: .pause
    case .proceed: .proceed
    case .resume: .resume
    case .fresh: .fresh
    case .ready: .ready
    case .stopping: .stopping
    }
  }
}

package enum TransitionKind: UInt8, CaseIterable, Sendable {
  case start, success, failure, retry, skip, cancel, interrupt, pause, proceed, resume, fresh
  case ready, stopping

  package var word: StaticString {
    switch self {
    case .start: "start"
    case .success: "success"
    case .failure: "failure"
    case .retry: "retry"
    case .skip: "skip"
    case .cancel: "cancel"
    case .interrupt: "interrupt"
    case .pause: "pause"
    case .proceed: "continue"
    case .resume: "resume"
    case .fresh: "fresh"
    case .ready: "ready"
    case .stopping: "stopping"
    }
  }
}

package struct Transition: Sendable, Equatable {
  package var event: TransitionEvent
  /// `none` for the whole run.
  package var task: TaskID
  /// Counts from 1 over all sessions of the run; 0 for no attempt.
  package var attempt: Int32 = 0
  /// `none` in journals of older versions.
  package var worker = WorkerID.none
  /// The task runs when the worker's task before it has succeeded.
  package var isPrefetched = false
  /// The `failure` does not fail the run.
  package var allowed = false
  /// Set for a `success` and an allowed `failure`.
  package var fingerprint = Fingerprint(whole: 0, parts: 0)
  /// Set for an attempt's end, and for a `failure` without an attempt.
  package var outcome = Outcome(status: .unknown)
  /// Boxed, so that most transitions are small.
  private var rare: Rare?

  private indirect enum Rare: Sendable, Equatable { case of(RareDetails) }

  private struct RareDetails: Sendable, Equatable {
    var delayMilliseconds: Int64 = 0
    var detail = ""
    var left: LeftBehind?
    var fetch: FetchRecord?
    var values: [TaskValue]?
    var with: UInt64?
    var origin: UInt64?
    var kept: TaskState?
    var isLate = false
    var isRestored = false
  }

  package init(
    _ event: TransitionEvent, _ task: TaskID, attempt: Int32 = 0, reason: EndReason? = nil
  ) {
    self.event = event
    self.task = task
    self.attempt = attempt
    outcome.reason = reason
  }

  private var details: RareDetails {
    get { if case .of(let details) = rare { details } else { RareDetails() } }
    set { rare = newValue == RareDetails() ? nil : .of(newValue) }
  }

  package var delayMilliseconds: Int64 {
    get { details.delayMilliseconds }
    set { details.delayMilliseconds = newValue }
  }

  /// For a start error, the step and file that failed. Else see `what` in JournalFormat.swift.
  package var detail: String {
    get { details.detail }
    set { details.detail = newValue }
  }

  /// Processes that were killed or could not be killed.
  package var left: LeftBehind? {
    get { details.left }
    set { details.left = newValue }
  }

  /// Processes of the attempt may still run, so opflow must not start another attempt.
  package var leavesAlive: Bool { left?.areAlive == true }

  /// nil if no task reads the values.
  package var values: [TaskValue]? {
    get { details.values }
    set { details.values = newValue }
  }

  /// A hash of the values that the task read.
  package var with: UInt64? {
    get { details.with }
    set { details.with = newValue }
  }

  /// A random number of this result, in plans with `inputs`. A dependent is up to date only for the
  /// result that it was built with.
  package var origin: UInt64? {
    get { details.origin }
    set { details.origin = newValue }
  }

  /// The state from an earlier session; nil for a result of another run.
  package var kept: TaskState? {
    get { details.kept }
    set { details.kept = newValue }
  }

  package var isLate: Bool {
    get { details.isLate }
    set { details.isLate = newValue }
  }

  package var isRestored: Bool {
    get { details.isRestored }
    set { details.isRestored = newValue }
  }

  package var fetch: FetchRecord? {
    get { details.fetch }
    set { details.fetch = newValue }
  }

  package var why: Why? {
    switch event {
    case .skip(let reason): .skipped(reason)
    case .resume(let reason): .rerun(reason)
    case .start, .success, .failure, .retry, .cancel, .interrupt, .pause, .proceed, .fresh,
      .ready, .stopping:
      outcome.reason.map { .ended($0) }
    }
  }
}

package enum Why: Equatable, Sendable {
  case ended(EndReason)
  case skipped(SkipReason)
  case rerun(RerunReason)

  package var word: StaticString {
    switch self {
    case .ended(let reason): reason.word
    case .skipped(let reason): reason.word
    case .rerun(let reason): reason.word
    }
  }

  package var culprit: TaskID {
    switch self {
    case .skipped(.upstream(let task)), .rerun(.afterRerun(let task)): task
    case .ended, .skipped(.condition), .skipped(.emptyMatrix), .skipped(.skipOption),
      .skipped(.request), .skipped(.unused), .skipped(.retracted), .rerun:
      .none
    }
  }

  package var changedPart: Fingerprint.Part? {
    switch self {
    case .rerun(.changed(let part)): part
    case .ended, .skipped, .rerun: nil
    }
  }

  package var endReason: EndReason? {
    if case .ended(let reason) = self { reason } else { nil }
  }

  package var skipReason: SkipReason? {
    if case .skipped(let reason) = self { reason } else { nil }
  }
}

package enum SkipReason: Equatable, Sendable {
  case condition
  case emptyMatrix
  case skipOption
  case request
  /// No task used the service.
  case unused
  /// The generator that added the task is tried again.
  case retracted
  /// `none` if the plan lacks the dependency by now.
  case upstream(TaskID)

  package var word: StaticString {
    switch self {
    case .condition: "if"
    case .emptyMatrix: "empty matrix"
    case .skipOption: "--skip"
    case .request: "order"
    case .unused: "unused"
    case .retracted: "withdrawn"
    case .upstream: "upstream"
    }
  }

  init?(word: UnsafeRawBufferPointer, of task: TaskID) {
    let all = [
      SkipReason.condition, .emptyMatrix, .skipOption, .request, .unused, .retracted,
      .upstream(task),
    ]
    guard let reason = all.first(where: { word.equals($0.word) }) else { return nil }
    self = reason
  }

  package var isUpstream: Bool {
    switch self {
    case .upstream: true
    case .condition, .emptyMatrix, .skipOption, .request, .unused, .retracted: false
    }
  }
}

package enum RerunReason: Equatable, Sendable {
  case interrupted
  case changed(Fingerprint.Part?)
  /// The dependency runs again or has run since; `none` if the plan lacks it by now.
  case afterRerun(TaskID)
  case failedBefore
  case skippedBefore
  case cancelledBefore
  case outputMissing
  case inputs
  /// A damaged line may have discarded the result.
  case unproven
  case asked
  /// A service does not keep a result: it starts again when a task depends on it.
  case service
  case new

  package var word: StaticString {
    switch self {
    case .interrupted: "interrupted"
    case .changed: "changed"
    case .afterRerun: "after rerun"
    case .failedBefore: "failed before"
    case .skippedBefore: "skipped before"
    case .cancelledBefore: "cancelled before"
    case .outputMissing: "output missing"
    case .inputs: "inputs"
    case .unproven: "unproven"
    case .asked: "asked"
    case .service: "service"
    case .new: "new"
    }
  }

  init?(word: UnsafeRawBufferPointer, part: Fingerprint.Part?, of task: TaskID) {
    let all = [
      RerunReason.interrupted, .changed(part), .afterRerun(task), .failedBefore, .skippedBefore,
      .cancelledBefore, .outputMissing, .inputs, .unproven, .asked, .service,
      .new,
    ]
    guard let reason = all.first(where: { word.equals($0.word) }) else { return nil }
    self = reason
  }
}

package struct SessionLimits: Equatable, Sendable {
  package struct Capacity: Equatable, Sendable {
    package var name: String
    package var amount: UInt64

    package init(name: String, amount: UInt64) {
      self.name = name
      self.amount = amount
    }
  }

  /// Empty in older versions.
  package var capacities: [Capacity] = []
  /// 0 means no limit; nil in older versions.
  package var maxFailures: Int?

  package init() {}

  /// nil if neither the session nor the manifest sets it.
  func capacity(of resource: Int, _ plan: Plan) -> UInt64? {
    let entry = plan.resources[resource]
    let name = plan.text(entry.name)
    if let told = capacities.first(where: { $0.name.utf8.elementsEqual(name) }) {
      return told.amount
    }
    return entry.capacity == 0 ? nil : entry.capacity
  }

  mutating func list(_ pass: inout FieldPass) {
    pass.each(.capacity, &capacities, read: { Capacity(text: $0.text) }) { capacity, writer in
      writer.escaped(capacity.name)
      writer.raw(":")
      writer.number(capacity.amount)
    }
    pass.natural(.failures, &maxFailures)
  }
}

extension SessionLimits.Capacity {
  fileprivate init?(text: String) {
    guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")),
      let amount: UInt64 = Field.number(text.utf8[text.utf8.index(after: colon)...])
    else { return nil }
    self.init(name: String(text[..<colon]), amount: amount)
  }
}

extension WorkerEntry {
  mutating func list(_ pass: inout FieldPass) {
    pass.value(.worker, &worker, read: { $0.small.map { WorkerID($0) } }) { worker, writer in
      if worker != .none { writer.field(.worker, worker.rawValue) }
    }
    pass.number(.pid, &pid, evenIfZero: true)
    pass.number(.start, &startTime, evenIfZero: true)
    pass.text(.boot, &bootID, evenIfEmpty: true)
    pass.number(.group, &autogroup, evenIfZero: true)
    pass.text(.host, &host)
    node.list(&pass)
  }
}

extension NodeID {
  mutating func list(_ pass: inout FieldPass) {
    pass.value(.node, &self, read: { NodeID(max(0, $0.small ?? 0)) }) { node, writer in
      writer.fieldUnlessZero(.node, node.rawValue)
    }
  }
}

/// The trace IDs of a run, computed from lines that start sessions: equal in each export.
package struct RunTrace: Sendable {
  package let span: SpanID
  package let parent: TraceParent?
  private let own: TraceID

  package init(_ open: OpenEntry, openedMilliseconds milliseconds: Int64) {
    // The run's ID is not unique: several runs may begin in a second.
    let parts =
      "\(open.run)\0\(milliseconds)\0\(open.stateFolder)\0\(open.manifestPath)\0\(open.planKey)"
    let key = Hash.planKey(Array(parts.utf8))
    own = TraceID(high: key.high, low: key.low)
    span = SpanID(Hash.combine(key.high, key.low))
    parent = open.trace
  }

  package var id: TraceID { parent?.trace ?? own }
  package var flags: UInt8 { parent?.flags ?? TraceParent.sampled }

  /// The context that attempts inherit. `parent` is the session's context; nil continues the run's
  /// trace.
  package func context(ofSession parent: TraceParent?) -> TraceParent {
    TraceParent(trace: parent?.trace ?? id, span: span, flags: parent?.flags ?? flags)
  }
}
