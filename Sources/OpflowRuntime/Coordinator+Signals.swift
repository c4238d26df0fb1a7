internal import OpflowCore
internal import OpflowSystem

extension Coordinator {
  /// The signals that a drive acts on. Those that a shell ignores for a background job are taken
  /// all the same, but a hang-up that nohup(1) ignored stays ignored.
  static func watchedSignals() throws(Errno) -> SignalSet {
    for signal in [Signal.interrupt, .terminate, .terminalStop, .proceed] {
      try Dispositions.restore(signal)
    }
    return [.hangup, .interrupt, .terminate, .terminalStop, .proceed, .windowChange]
  }

  func takeSignals() {
    do throws(Errno) {
      while let (signal, _) = try signals.next() { take(signal) }
    } catch {
      progress.warning("a signal could not be read: \(error)")
    }
  }

  private func take(_ signal: Signal) {
    switch signal {
    case .hangup, .interrupt, .terminate:
      stopsAsked += 1
      if stopsAsked == 1 {
        progress.warning("stopping: running tasks are ended (once more to kill them at once)")
        tell(.stop(.signal(signal.rawValue)))
      } else {
        tell(.kill)
      }
    case .terminalStop: suspend()
    case .proceed:
      progress.returnToTerminal()
      tell(.proceed)
    case .windowChange: progress.resize()
    default: break
    }
  }

  /// Suspends the tasks, then this process, which goes on where it was when it is continued.
  private func suspend() {
    tell(.suspend)
    flushJournal()
    sendPending()
    progress.leaveTerminal()
    do throws(Errno) {
      try ProcessID.stopSelf()
    } catch {
      progress.warning("opflow could not be suspended: \(error)")
    }
    progress.returnToTerminal()
    tell(.proceed)
  }
}
