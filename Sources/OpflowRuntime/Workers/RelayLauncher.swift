internal import OpflowCore
internal import OpflowSystem

/// Workers behind one stream: an agent starts and ends them when told, and passes on their lines, each
/// with its worker's number in front (`RelayLines`).
///
/// The stream is the site: when it is lost, so are all workers behind it, and no more are to be had. It is
/// lost when its end is seen, when it cannot be read or written, and when a line is too long, is no
/// message of an agent's, or speaks of a worker that is not there: from then on nothing on it can be
/// believed. A worker's own line that is no message costs that worker alone.
///
/// Nothing waits for anything: what the stream does not take is kept, and beyond `mostUnsentBytes` it
/// stays in the outbox of its worker, where the engine bounds it, until there is room. So an agent
/// that reads slowly holds up neither other sites nor what is heard of this one. That a worker which does
/// not read holds up no other is the agent's to see to.
final class RelayLauncher: Launcher {
  private let site: Int
  private let watch: Watch
  /// For people.
  private let name: String
  /// In milliseconds, from the loss of the stream to when the agent has ended its workers, in whatever
  /// state it is: its lease and what it takes to end them.
  private let patience: Int64

  private var input: Descriptor?
  private var output: Descriptor?
  private var lines = LineBuffer(
    longestLineBytes: RelayLines.longestLineBytes, bytes: RelayLauncher.mostReadBytes)
  /// The line of the worker that spoke last.
  private let inbox = Inbox()
  private var outbox = FieldWriter()
  /// How much of it the stream has taken.
  private var sent = 0
  private var awaitsRoom = false
  /// Why the stream cannot be written. That is told when the watch comes back to it.
  private var writeFailure: Errno?

  /// Those that the agent has not said are gone, given up or not.
  private var workers: [WorkerID: WorkerLink] = [:]
  /// Those that have orders for which there is no room, in the order in which they came.
  private var waiting: [WorkerLink] = []
  /// It was read from since it was last asked for.
  private var wasRead = false
  private var loss: Loss?

  /// What became of the stream.
  private struct Loss {
    let complaint: String
    let at: Instant
    /// Workers of which that is still to be told.
    var untold: [WorkerLink]
  }

  private static let mostReadBytes = 16_384
  private static let mostUnsentBytes = 65_536
  /// From `kill` to `gone`, before it counts as one that cannot be ended.
  private static let killPatienceMilliseconds: Int64 = 12_000

  /// What is watched of the stream.
  private enum Place {
    static let reports: UInt32 = 0, orders: UInt32 = 1
  }

  /// - Parameters:
  ///   - input: from the agent; another descriptor than `output`.
  ///   - patience: in milliseconds, see above.
  init(
    site: Int, watch: Watch, name: String, input: consuming Descriptor,
    output: consuming Descriptor, patience: Int64
  ) throws(Errno) {
    self.site = site
    self.watch = watch
    self.name = name
    self.patience = patience
    try input.setNonblocking(true)
    try output.setNonblocking(true)
    try watch.add(input.rawValue, .site(site), Place.reports)
    self.input = consume input
    self.output = consume output
  }

  // MARK: - Coming

  func launch(_ worker: WorkerID, _ kind: WorkerKind) throws(LaunchFailure) -> WorkerLink {
    if let loss { throw LaunchFailure(what: loss.complaint) }
    if kind == .terminal { throw LaunchFailure(what: "\(name) has no terminal of this run") }
    let link = WorkerLink(
      id: worker, kind: kind, site: site, entry: nil, inbox: inbox, isNumbered: true)
    workers[worker] = link
    RelayLines.launch(worker, kind, into: &outbox)
    flush()
    return link
  }

  // MARK: - Talking

  func next(at place: UInt32) -> LinkNews? {
    if loss == nil {
      if let news = place == Place.orders ? nextOfRoom() : nextReport() { return news }
    }
    guard let link = loss?.untold.popLast() else { return nil }
    return .silent(link, complaint: loss?.complaint)
  }

  private func nextOfRoom() -> LinkNews? {
    flush()
    if let writeFailure { lose("the stream to \(name) could not be written: \(writeFailure)") }
    return nil
  }

  /// What comes from one read.
  private func nextReport() -> LinkNews? {
    if !wasRead, !read() { return nil }
    switch lines.nextRelayed(into: &inbox.lines) {
    case .message(.line(let worker)):
      if let link = workers[worker] { return .spoke(link) }
      lose("\(name) passed on a line of worker number \(worker.rawValue), which is not there")
    case .message(.gone(let worker, let complaint)):
      if let link = workers.removeValue(forKey: worker) {
        return .gone(link, complaint: complaint, warnings: [])
      }
      lose("\(name) told the end of worker number \(worker.rawValue), which is not there")
    case .needsMore: wasRead = false
    case .malformed: lose("\(name) sent a line that is no message")
    }
    return nil
  }

  /// Reads once. Returns whether there was anything.
  private func read() -> Bool {
    do throws(Errno) {
      let count = try lines.fill { room throws(Errno) in try input?.read(into: room) ?? 0 }
      if count == 0 { lose("the stream to \(name) ended") }
      wasRead = count > 0
      return wasRead
    } catch .wouldBlock {
      return false
    } catch {
      lose("the stream to \(name) could not be read: \(error)")
      return false
    }
  }

  func send(to link: WorkerLink) {
    guard loss == nil, !waiting.contains(where: { $0 === link }) else { return }
    waiting.append(link)
    flush()
  }

  /// Sends what the stream takes. There may be room for more after each time that it took all.
  private func flush() {
    repeat {
      while outbox.bytes.count < Self.mostUnsentBytes, !waiting.isEmpty {
        let link = waiting.removeFirst()
        outbox.append(link.outbox)
        link.outbox.removeAll()
      }
      write()
    } while outbox.isEmpty && !waiting.isEmpty
    if awaitsRoom == !outbox.isEmpty { return }
    awaitsRoom.toggle()
    guard let raw = output?.rawValue else { return }
    do throws(Errno) {
      if awaitsRoom {
        try watch.add(raw, .site(site), Place.orders, for: .writable)
      } else {
        try watch.remove(raw)
      }
    } catch {
      // The agent sees that, and ends the other direction.
      output = nil
    }
  }

  private func write() {
    do throws(Errno) {
      while writeFailure == nil, sent < outbox.bytes.count {
        let from = sent
        let bytes = outbox.bytes
        sent += try bytes.withUnsafeBufferPointer { all throws(Errno) -> Int in
          try output?.write(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: all[from...])))
            ?? all.count - from
        }
      }
    } catch .wouldBlock {
      return
    } catch {
      writeFailure = error
    }
    if writeFailure != nil { return }
    sent = 0
    outbox.removeAll()
  }

  // MARK: - Going

  /// Closes both directions, so that the agent sees it too.
  private func lose(_ complaint: String) {
    close()
    loss = Loss(
      complaint: complaint, at: Instant(nanoseconds: Clock.monotonicNanoseconds),
      untold: workers.values.sorted { $0.id.rawValue > $1.id.rawValue })
    workers.removeAll()
    waiting.removeAll()
    outbox.removeAll()
    sent = 0
  }

  private func close() {
    // What cannot be removed leaves the watch when it is closed.
    if let raw = input?.rawValue { try? watch.remove(raw) }
    if awaitsRoom, let raw = output?.rawValue { try? watch.remove(raw) }
    awaitsRoom = false
    input = nil
    output = nil
  }

  func end(_ link: WorkerLink, at now: Instant) -> Instant {
    if let loss { return loss.at.advanced(byMilliseconds: patience) }
    waiting.removeAll { $0 === link }
    link.outbox.removeAll()
    // Beyond what else may be unsent: there is one for each worker at most.
    RelayLines.kill(link.id, into: &outbox)
    flush()
    return now.advanced(byMilliseconds: Self.killPatienceMilliseconds)
  }

  /// After a loss the agent has ended it by now.
  func giveUp(_ link: WorkerLink) -> [String] {
    loss == nil ? ["worker number \(link.id.rawValue) of \(name) could not be ended"] : []
  }

  /// No service is on another machine.
  func release(_ link: WorkerLink) {}
  func regain(_ link: WorkerLink) {}

  func endAll() { close() }

  func cleanUp() { close() }
}
