internal import OpflowEngine
internal import OpflowPlan
internal import OpflowSystem

extension Coordinator {
  /// Signals that were ignored at the start stay ignored: SIGHUP by nohup(1), SIGINT for background
  /// jobs of a shell without job control. SIGTERM always ends a run.
  static func watchedSignals() throws(Errno) -> SignalSet {
    for signal in [Signal.terminate, .proceed] { try Dispositions.restore(signal) }
    var watched: SignalSet = [.terminate, .proceed, .windowChange]
    watched.insert(unlessIgnored: .hangup, .interrupt, .terminalStop)
    return watched
  }

  func takeSignals() {
    do throws(Errno) {
      while let (signal, sender) = try signals.next() { take(signal, from: sender) }
    } catch {
      progress.warning("a signal could not be read: \(error)")
    }
  }

  /// Writes the rest of the view, within its deadlines or until another signal.
  func endProgress() {
    progress.end(atOnce: stopsAsked > 1, signals: signals.rawValue) {
      var isStop = false
      do throws(Errno) {
        while let (signal, _) = try signals.next() {
          guard [.hangup, .interrupt, .terminate].contains(signal) else { continue }
          stopSignal = stopSignal ?? signal
          isStop = true
        }
      } catch {
        isStop = true
      }
      return isStop
    }
  }

  func stop(by signal: Signal) {
    stopsAsked += 1
    stopSignal = stopSignal ?? signal
    if stopsAsked == 1 {
      progress.warning("stopping: running tasks are ended (once more to kill them at once)")
      tell(.stop(.signal(signal.rawValue)))
    } else {
      // The first signal may only have ended services.
      tell(.stop(.signal(signal.rawValue)))
      tell(.kill)
    }
  }

  private func take(_ signal: Signal, from sender: Int32) {
    if noteKey(signal, from: sender) { return }
    switch signal {
    case .hangup, .interrupt, .terminate:
      if signal == .hangup { loan?.wasHungUp = true }
      stop(by: signal)
    case .terminalStop: suspend(askedBy: sender)
    case .proceed:
      progress.returnToTerminal()
      tell(.proceed)
    case .windowChange: progress.resize()
    default: break
    }
  }

  /// Suspends the tasks, then this process. `sender` is 0 for the terminal.
  private func suspend(askedBy sender: Int32) {
    guard sites == nil else {
      progress.warning(
        "opflow does not stop: other machines would take it for dead, and end their tasks;"
          + " `opflow pause` holds back what has not started")
      return
    }
    let isKey = sender == 0 || loan != nil
    // No shell would continue this process.
    if isKey, ProcessGroup.isOrphaned { return }
    loan?.beginSuspension(askedBy: sender)
    tell(.suspend)
    performSteps()
    progress.leaveTerminal()
    let began = Self.now
    var late: [(Signal, Int32)] = []
    do throws(Errno) {
      var isReady = false
      while !isReady {
        while let (signal, sender) = try signals.next() {
          if signal != .windowChange, signal != .terminalStop { late.append((signal, sender)) }
        }
        // The shell takes the terminal when this process stops; the task must not read by then.
        isReady = late.isEmpty ? try !awaitsStop(since: began) : true
      }
      // Stopping now would discard a pending SIGCONT, and no other would come.
      if late.isEmpty { try ProcessID.stopSelf(asJob: isKey) }
    } catch {
      progress.warning("opflow could not be suspended: \(error)")
    }
    progress.returnToTerminal()
    awakeAt = Self.now
    wall = Clock.wallMilliseconds
    tell(.proceed)
    for (signal, sender) in late where signal != .proceed { take(signal, from: sender) }
  }

  /// Waits a moment, or for a signal, while the task with the terminal is stopping.
  private func awaitsStop(since began: Instant) throws(Errno) -> Bool {
    guard let loan, loan.isStopping(since: began, at: Self.now) else { return false }
    _ = try signalWait.wait(nanoseconds: TerminalLoan.lookNanoseconds)
    return true
  }
}
