package import OpflowCore
package import OpflowSystem

/// Why nobody answered an order. Whether it was done is then known by no answer.
package enum ControlError: Error, Equatable {
  /// No process drives the run, or none does any more.
  case notLive
  /// A process drives it and takes no orders here. Nil where it could not be read which.
  case deaf(LockHolder?)
  /// So many wait already.
  case crowded
  case failed(Errno)
}

/// One who asks a live run for something: connects, asks, waits for the answer.
///
/// What may happen meanwhile, and what is done then:
///
/// - The run has not opened its socket yet: the lock is held first, and the socket comes with the drive. It is
///   looked for again, for as long as `patience`.
/// - The connection ends without an answer: the run has ended, or made room for others. The order may have
///   been journaled all the same. Where the journal has its id it was done; where the run still is live the
///   order is sent again, which does nothing twice, since it has the same id; else it was not done.
/// - The process that drives the run stands still (Ctrl-Z): it answers when it goes on. Whoever waits is told,
///   and may leave; a time limit would leave the order done and the asker without knowing it.
package struct ControlConnection {
  /// What it is called in the run's folder.
  package static let socketName = ControlSocket.name

  private let folder: RunFolder
  private let plan: Plan

  /// From the lock to the socket, in nanoseconds.
  private static let patience: Int64 = 3_000_000_000
  private static let interval: Int64 = 20_000_000
  private static let connectTimeout = Duration.seconds(10)
  /// Until somebody who waits is told what for, in nanoseconds.
  private static let silence: Int64 = 3_000_000_000
  private static let mostTries = 20

  package init(_ folder: RunFolder, plan: Plan) {
    self.folder = folder
    self.plan = plan
  }

  /// - Parameters:
  ///   - line: of an order with that id.
  ///   - waits: called once where the answer does not come soon, with the process that is to give it.
  package func ask(
    _ line: [UInt8], _ id: OrderID, waits: (LockHolder?) -> Void
  ) throws(ControlError) -> OrderAnswer {
    var hasTold = false
    var isFirst = true
    for _ in 0..<Self.mostTries {
      let socket: Descriptor
      do throws(ControlError) {
        socket = try connect()
      } catch {
        // It may have been done meanwhile.
        if !isFirst, error == .notLive, let answer = try journaled(id) { return answer }
        throw error
      }
      isFirst = false
      let answer = try Self.exchange(socket, line, id) {
        if !hasTold { waits(RunFolderLock.holder(folder)) }
        hasTold = true
      }
      if let answer { return answer }
      if let answer = try journaled(id) { return answer }
    }
    throw .crowded
  }

  // MARK: - Connecting

  private func connect() throws(ControlError) -> Descriptor {
    let deadline = Clock.monotonicNanoseconds + Self.patience
    while true {
      do throws(Errno) {
        let at = try File.open(folder.path, [.readOnly, .directory])
        return try UnixSocket.connect(
          to: ControlSocket.name, in: at, timeout: Self.connectTimeout)
      } catch .wouldBlock {
        throw .crowded
      } catch .noSuchFile {
        try expectSocket(until: deadline)
      } catch .connectionRefused {
        // Left by a drive that was killed.
        try expectSocket(until: deadline)
      } catch {
        throw .failed(error)
      }
    }
  }

  private func expectSocket(until deadline: Int64) throws(ControlError) {
    guard try isHeld() else { throw .notLive }
    guard Clock.monotonicNanoseconds < deadline else {
      throw .deaf(RunFolderLock.holder(folder))
    }
    // Fails for no reason that waiting less would not mend.
    try? PollSet.pause(nanoseconds: Self.interval)
  }

  private func isHeld() throws(ControlError) -> Bool {
    do throws(RunFolderError) {
      return try RunFolderLock.isHeld(folder)
    } catch {
      if case .file(_, _, let errno) = error { throw .failed(errno) }
      throw .notLive
    }
  }

  /// What the journal says of an order whose asker was told nothing; nil where it may be asked for again.
  private func journaled(_ id: OrderID) throws(ControlError) -> OrderAnswer? {
    // Before the journal: who has ended writes no more.
    let isHeld = try isHeld()
    let history = try? folder.readHistory(plan: plan).history
    if let count = history?.orders.counts[id] { return .done(count: count) }
    if isHeld { return nil }
    throw .notLive
  }

  // MARK: - Talking

  /// - Returns: nil when the other end went away.
  private static func exchange(
    _ socket: borrowing Descriptor, _ line: [UInt8], _ id: OrderID, waits: () -> Void
  ) throws(ControlError) -> OrderAnswer? {
    do throws(Errno) {
      // It may have been told why before it has read all of it.
      do throws(Errno) { try socket.writeAll(line) } catch .brokenPipe {}
      guard let answer = try readLine(socket, waits: waits) else { return nil }
      let read = answer.withUnsafeBytes { OrderLines.answer($0) }
      guard let (answered, answer) = read, answered == id || answered == nil else {
        return .refused(what: foreignAnswer)
      }
      return answer
    } catch .connectionReset {
      return nil
    } catch {
      throw .failed(error)
    }
  }

  private static let foreignAnswer = "it was answered with something that opflow does not say"

  /// Without its line feed; nil where the other end went away before there was one.
  private static func readLine(
    _ socket: borrowing Descriptor, waits: () -> Void
  ) throws(Errno) -> [UInt8]? {
    var line: [UInt8] = []
    var poll = PollSet(slots: 1)
    poll.set(0, socket.rawValue)
    if try !poll.wait(nanoseconds: silence) { waits() }
    var room = [UInt8](repeating: 0, count: 4096)
    while line.count <= OrderLines.longestLineBytes {
      let count = try room.withUnsafeMutableBufferPointer { room throws(Errno) in
        try socket.read(into: UnsafeMutableRawBufferPointer(room))
      }
      if count == 0 { return nil }
      line += room[..<count]
      if let end = line.firstIndex(of: Field.lineFeed) { return Array(line[..<end]) }
    }
    return line
  }
}
