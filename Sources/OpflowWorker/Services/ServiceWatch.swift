internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

/// Checks whether the running service is ready, in small steps between the worker's other work.
struct ServiceWatch: ~Copyable {
  enum Look {
    case again
    /// A message for the user; may be empty.
    case ready(note: String)
    case gaveUp(detail: String)
  }

  private let readiness: ServiceReadiness
  private let ports: ServicePorts
  private let folder: String
  private var nextLook = Instant(nanoseconds: 0)
  private var timeout = Instant(nanoseconds: 0)
  private var isOver = true
  private var pausedAt: Instant?
  private var found = ""
  /// For `file`: the status before the start.
  private var fileBefore: FileStatus?
  private var log: LogLines?
  private var request: ServiceRequest?
  private var hasAnswered = false
  /// For `exec`; 0 for none.
  private(set) var probePID: Int32 = 0
  private var isProbed = false
  private var probeUntil = Instant(nanoseconds: .max)
  /// The command was killed for the timeout.
  private var isOverdue = false

  /// An `exec` run is then repeated: a server may never answer a request.
  static let longestProbeMilliseconds: Int64 = 30_000

  init(_ plan: Plan, _ task: TaskID, _ ports: ServicePorts) {
    readiness = plan.readiness(of: task)
    self.ports = ports
    folder = String(decoding: plan.text(plan.record(task).directory), as: UTF8.self)
    if case .log(let pattern) = readiness.probe { log = LogLines(pattern) }
  }

  /// Returns why the service cannot start: another process would be mistaken for it. Records the
  /// state before the start.
  mutating func obstacle() -> String? {
    switch readiness.probe {
    // A reserved port is free.
    case .none, .log, .exec, .namedPort: return nil
    case .port(let number): return Self.obstacle(LocalPort(number))
    case .http(let url): return address(url).flatMap { obstacle($0) }
    case .file(let path):
      fileBefore = try? Path.status(absolute(path))
      return nil
    }
  }

  private func obstacle(_ address: ServiceAddress) -> String? {
    if ports.all.contains(where: { $0.number == address.port }) { return nil }
    return Self.obstacle(LocalPort(address.port))
  }

  private func address(_ url: String) -> ServiceAddress? {
    ports.resolve(url).flatMap { ServiceAddress($0) }
  }

  private static func obstacle(_ port: LocalPort) -> String? {
    guard port.answers else { return nil }
    let holder = port.listeners.first.map { "process \($0.pid) (\($0.name))" } ?? "another process"
    return "port \(port.number) is already in use by \(holder)"
  }

  mutating func begin(at now: Instant) {
    isOver = false
    nextLook = now
    timeout = now.advanced(byMilliseconds: Int64(clamping: readiness.timeoutMilliseconds))
  }

  /// Pauses the timeout too.
  mutating func pause(at now: Instant) { if !isOver, pausedAt == nil { pausedAt = now } }

  mutating func proceed(at now: Instant) {
    guard let since = pausedAt else { return }
    pausedAt = nil
    timeout = timeout.advanced(byNanoseconds: now.nanoseconds - since.nanoseconds)
    if probePID != 0 {
      probeUntil = probeUntil.advanced(byNanoseconds: now.nanoseconds - since.nanoseconds)
    }
    nextLook = now
  }

  mutating func end() {
    isOver = true
    request = nil
  }

  mutating func note(_ chunk: UnsafeRawBufferPointer) {
    guard !isOver, log?.note(chunk) == true else { return }
    nextLook = Instant(nanoseconds: 0)
  }

  mutating func noteProbe(_ status: ExitStatus, at now: Instant) {
    probePID = 0
    isProbed = status == .success
    found =
      isOverdue && !isProbed
      ? Self.noEnd : "it ended with \(status.text)"
    isOverdue = false
    nextLook =
      isProbed ? now : now.advanced(byMilliseconds: Int64(clamping: readiness.intervalMilliseconds))
  }

  var deadline: Instant? {
    if isOver || pausedAt != nil { return nil }
    let end = probePID != 0 && !isOverdue ? probeUntil : timeout
    return min(nextLook, timeout, end)
  }

  private static let noEnd =
    "it did not end within \(DurationText.text(milliseconds: longestProbeMilliseconds))"

  /// `start` starts a command beside the service; `kill` kills it with its descendants, and
  /// `noteProbe` gets its status.
  mutating func look(
    at now: Instant, start: ([String]) throws(WatchFault) -> Int32, kill: (Int32) -> Void
  ) -> Look {
    guard let deadline, deadline <= now else { return .again }
    nextLook = now.advanced(byMilliseconds: Int64(clamping: readiness.intervalMilliseconds))
    if probePID != 0, probeUntil <= now, !isOverdue {
      isOverdue = true
      kill(probePID)
    }
    var note = ""
    do throws(WatchFault) {
      if try isReady(at: now, &note, start) {
        end()
        return .ready(note: note)
      }
    } catch {
      end()
      return .gaveUp(detail: error.detail)
    }
    guard timeout <= now else { return .again }
    if probePID != 0, found.isEmpty { found = "it has not ended" }
    end()
    let time = DurationText.text(milliseconds: Int64(clamping: readiness.timeoutMilliseconds))
    return .gaveUp(
      detail: "not ready after \(time): \(subject)\(found.isEmpty ? "" : "; \(found)")")
  }

  private var subject: String {
    switch readiness.probe {
    case .none: "nothing"
    case .port(let number): "no process listens on port \(number)"
    case .namedPort(let name):
      "no process listens on port \(ports[name].map { "\($0) " } ?? "")(\(name))"
    case .http(let url): "no successful response from \(ports.resolve(url) ?? url)"
    case .log(let pattern): "no line of its output matches `\(pattern)`"
    case .exec(let words): "`\(words.joined(separator: " "))` did not succeed"
    case .file(let path): "\(path) was not created or changed"
    }
  }

  private mutating func isReady(
    at now: Instant, _ note: inout String, _ start: ([String]) throws(WatchFault) -> Int32
  ) throws(WatchFault) -> Bool {
    switch readiness.probe {
    case .none: return true
    case .port(let number): return answers(LocalPort(number), &note)
    case .namedPort(let name):
      guard let number = ports[name] else { return false }
      return answers(LocalPort(number), &note)
    case .http(let url):
      guard let address = address(url) else { return false }
      return askByHTTP(address, at: now)
    case .log: return log?.isFound == true
    case .exec(let words):
      if isProbed { return true }
      if probePID == 0, now < timeout {
        probePID = try start(words)
        probeUntil = now.advanced(byMilliseconds: Self.longestProbeMilliseconds)
      }
      return false
    case .file(let path):
      guard let status = try? Path.status(absolute(path)) else { return false }
      return status != fileBefore
    }
  }

  private func answers(_ port: LocalPort, _ note: inout String) -> Bool {
    guard port.answers else { return false }
    note = Self.outsider(of: port)
    return true
  }

  private mutating func askByHTTP(_ address: ServiceAddress, at now: Instant) -> Bool {
    var asked = request.take() ?? ServiceRequest(address, at: now)
    switch asked.goOn(at: now) {
    case .waits:
      if !hasAnswered { found = "it has not answered yet" }
      request = consume asked
      // Without an answer the request times out.
      nextLook = now.advanced(byMilliseconds: ServiceRequest.pauseMilliseconds)
      return false
    case .answered(let status):
      hasAnswered = true
      found = "status \(status)"
      return (200..<400).contains(status)
    case .failed(let why):
      found = why
      return false
    }
  }

  /// Names a listener that the service did not start, such as that of a container.
  private static func outsider(of port: LocalPort) -> String {
    let listeners = port.listeners
    if listeners.isEmpty { return "" }
    let own = Set(ProcessTree.descendants(of: ProcessID.own))
    guard !listeners.contains(where: { own.contains($0.pid) }), let other = listeners.first else {
      return ""
    }
    return "process \(other.pid) (\(other.name)), which it did not start,"
      + " listens on port \(port.number)"
  }

  private func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : folder + "/" + path
  }
}

struct WatchFault: Error {
  let detail: String
}

private struct LogLines {
  private let glob: Glob
  private var line: [UInt8] = []
  /// Without colors and other escape sequences.
  private var cleaned: [UInt8] = []
  private(set) var isFound = false

  /// Only this much of a line is compared.
  private static let longestLine = 65_536

  init(_ pattern: String) { glob = Glob("*\(pattern)*") }

  /// An unfinished line counts too: a prompt has no newline.
  mutating func note(_ chunk: UnsafeRawBufferPointer) -> Bool {
    if isFound { return true }
    var rest = chunk[...]
    while !rest.isEmpty, !isFound {
      let end = rest.firstIndex(of: Field.lineFeed) ?? rest.endIndex
      let room = max(0, Self.longestLine - line.count)
      line.append(contentsOf: rest[..<end].prefix(room))
      isFound = line.withUnsafeBytes { isFitting($0) }
      guard end < rest.endIndex else { break }
      line.removeAll(keepingCapacity: true)
      rest = rest[(end + 1)...]
    }
    return isFound
  }

  private mutating func isFitting(_ line: UnsafeRawBufferPointer) -> Bool {
    if glob.matches(line) { return true }
    cleaned.removeAll(keepingCapacity: true)
    CleanText.append(line, to: &cleaned)
    return cleaned.withUnsafeBytes { glob.matches($0) }
  }
}

/// A non-blocking GET request; only the status matters.
struct ServiceRequest: ~Copyable {
  enum Answer {
    case waits
    case answered(status: Int)
    case failed(String)
  }

  /// The pause between two checks for an answer.
  static let pauseMilliseconds: Int64 = 10
  private static let patienceMilliseconds: Int64 = 5_000
  private static let statusBytes = 12

  private let address: ServiceAddress
  private let until: Instant
  private var connection: Descriptor?
  private var unsent: [UInt8]
  private var answer: [UInt8] = []

  init(_ address: ServiceAddress, at now: Instant) {
    self.address = address
    until = now.advanced(byMilliseconds: Self.patienceMilliseconds)
    let host = address.port == 80 ? address.host : "\(address.host):\(address.port)"
    unsent = Array(
      """
      GET \(address.path) HTTP/1.1\r
      Host: \(host)\r
      User-Agent: opflow\r
      Connection: close\r
      \r

      """
      .utf8)
  }

  mutating func goOn(at now: Instant) -> Answer {
    do throws(Errno) {
      if connection == nil { connection = try connect() }
      try send()
      if let status = try receive() { return status }
    } catch .wouldBlock {
    } catch {
      return .failed("\(error)")
    }
    return until <= now ? .failed("it did not answer in time") : .waits
  }

  private func connect() throws(Errno) -> Descriptor {
    let port = LocalPort(address.port)
    if address.isIPv6 { return try port.connect(isIPv6: true).takeDescriptor() }
    do throws(Errno) {
      return try port.connect(isIPv6: false).takeDescriptor()
    } catch {
      guard address.host == "localhost" else { throw error }
      return try port.connect(isIPv6: true).takeDescriptor()
    }
  }

  private mutating func send() throws(Errno) {
    while !unsent.isEmpty {
      let count = try unsent.withUnsafeBufferPointer { bytes throws(Errno) -> Int? in
        try connection?.write(UnsafeRawBufferPointer(bytes))
      }
      unsent.removeFirst(count ?? 0)
    }
  }

  /// nil until the status is complete.
  private mutating func receive() throws(Errno) -> Answer? {
    var chunk = [UInt8](repeating: 0, count: 256)
    while answer.count < Self.statusBytes {
      let count = try chunk.withUnsafeMutableBufferPointer { room throws(Errno) -> Int? in
        try connection?.read(into: UnsafeMutableRawBufferPointer(room))
      }
      guard let count, count > 0 else {
        return .failed("it closed the connection without a response")
      }
      answer += chunk[..<count]
    }
    let words = String(decoding: answer.prefix(Self.statusBytes), as: UTF8.self)
      .split(separator: " ")
    guard words.count == 2, words[0].hasPrefix("HTTP/"), let status = Int(words[1]) else {
      return .failed("its response is not HTTP")
    }
    return .answered(status: status)
  }
}

/// The end of a readiness command's output. The rest is dropped, since the command runs repeatedly.
struct ProbeOutput: ~Copyable {
  private let command: String
  private let pipe: Descriptor
  /// The output of the command's previous run.
  private let earlier: [UInt8]
  private var masker: Masker?
  private var tail: [UInt8] = []

  private static let mostBytes = 4096
  private static let mostLines = 10
  /// Endless output must not block the worker.
  private static let mostChunks = 16

  /// `earlier` is used if this run prints nothing.
  init(
    of words: [String], _ written: borrowing Pipe, _ masker: Masker?, earlier: [UInt8]
  ) throws(Errno) {
    self.earlier = earlier
    command = words.joined(separator: " ")
    self.masker = masker
    pipe = try File.open("/proc/self/fd/\(written.read.rawValue)", [.readOnly, .nonblocking])
  }

  var rawDescriptor: Int32 { pipe.rawValue }

  /// False once all writers have closed the pipe.
  mutating func take() -> Bool {
    var chunk = [UInt8](repeating: 0, count: Self.mostBytes)
    for _ in 0..<Self.mostChunks {
      do throws(Errno) {
        let count = try chunk.withUnsafeMutableBufferPointer { room throws(Errno) -> Int in
          try pipe.read(into: UnsafeMutableRawBufferPointer(room))
        }
        if count == 0 { return false }
        var text: [UInt8] = []
        chunk.withUnsafeBytes { chunk in
          let bytes = UnsafeRawBufferPointer(rebasing: chunk[..<count])
          // Mask before any text is cut off.
          if masker == nil { text += bytes } else { masker?.mask(bytes) { text += $0 } }
        }
        keep(text)
      } catch {
        return error == .wouldBlock
      }
    }
    return true
  }

  private mutating func keep(_ text: [UInt8]) {
    tail = Array((tail + text).suffix(Self.mostBytes))
  }

  /// Starts with a header that names the command; returns the earlier output if this run printed
  /// nothing.
  mutating func takeLastLines() -> [UInt8] {
    var text: [UInt8] = []
    masker?.finish { text += $0 }
    masker = nil
    keep(text)
    let lines = LastLines.of(tail, count: Self.mostLines)
    return lines.isEmpty ? earlier : Array("`\(command)` printed last:\n".utf8) + lines
  }
}

/// The ports of the services that tasks of this worker use, and of its own service.
struct KnownPorts {
  private let plans: WorkerPlan
  private var plan: Plan { plans.current }
  /// Sent by the coordinator.
  private var told: [TaskID: [UInt16]] = [:]
  private var own: [ReservedPort] = []

  init(_ plans: WorkerPlan) { self.plans = plans }

  mutating func note(_ message: WorkerMessage) {
    if case .ports(let service, let ports) = message { told[service] = ports }
  }

  mutating func reserve(for service: TaskID) throws(Errno) -> ServicePorts {
    own = []
    let names = plan.portNames(of: service)
    for _ in names { own.append(try ReservedPort()) }
    return ServicePorts(names, ownNumbers)
  }

  var ownNumbers: [UInt16] { own.map(\.number) }

  /// Call it right before the service binds the ports.
  func open() { for port in own { port.open() } }

  mutating func release() { own = [] }

  /// Variables for the services that the task needs, and for its own ports.
  func variables(of task: TaskID) -> [String] {
    guard plan.hasServices else { return [] }
    var ports: [ServicePorts.Port] = []
    for service in plan.services(neededBy: task) {
      guard let numbers = told[service] else { continue }
      ports += ServicePorts(plan.portNames(of: service), numbers).all
    }
    if plan.isService(task) { ports += ServicePorts(plan.portNames(of: task), ownNumbers).all }
    return ports.map { "\(ServicePorts.variable($0.name))=\($0.number)" }
  }
}
