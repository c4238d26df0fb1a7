internal import OpflowCore
internal import OpflowSystem

extension Coordinator {
  /// The signals that a drive acts on. What was ignored when this program was started stays ignored:
  /// a hang-up by nohup(1), an interrupt by a shell without job control for its background jobs. But
  /// TERM always ends a run.
  static func watchedSignals() throws(Errno) -> SignalSet {
    for signal in [Signal.terminate, .proceed] { try Dispositions.restore(signal) }
    var watched: SignalSet = [.terminate, .proceed, .windowChange]
    for signal in [Signal.hangup, .interrupt, .terminalStop] where !Dispositions.isIgnored(signal) {
      watched.insert(signal)
    }
    return watched
  }

  func takeSignals() {
    do throws(Errno) {
      while let (signal, _) = try signals.next() { take(signal) }
    } catch {
      progress.warning("a signal could not be read: \(error)")
    }
  }

  /// Gives what is still to be shown its time. A further signal ends that, too.
  func endProgress() {
    progress.end(atOnce: stopsAsked > 1, signals: signals.rawValue) {
      var isStop = false
      do throws(Errno) {
        while let (signal, _) = try signals.next() {
          if [.hangup, .interrupt, .terminate].contains(signal) { isStop = true }
        }
      } catch {
        isStop = true
      }
      return isStop
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
    performSteps()
    progress.leaveTerminal()
    var late: [Signal] = []
    do throws(Errno) {
      while let (signal, _) = try signals.next() {
        if signal != .windowChange, signal != .terminalStop { late.append(signal) }
      }
      // That takes back a SIGCONT which is pending, and nobody would send another.
      if late.isEmpty { try ProcessID.stopSelf() }
    } catch {
      progress.warning("opflow could not be suspended: \(error)")
    }
    progress.returnToTerminal()
    awakeAt = Self.now
    wall = Clock.wallMilliseconds
    tell(.proceed)
    for signal in late where signal != .proceed { take(signal) }
  }
}
