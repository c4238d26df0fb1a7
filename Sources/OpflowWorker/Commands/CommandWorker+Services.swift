internal import OpflowCore
internal import OpflowSystem

extension CommandWorker {
  /// Looks whether the service that runs is ready, when that is due.
  func lookAtService(_ now: Instant) {
    guard let deadline = service?.deadline, deadline <= now else { return }
    let look = service?.look(at: now) { words throws(WatchFault) in try startProbe(words) }
    switch look {
    case .again, nil: break
    case .ready(let note):
      if !note.isEmpty { frame.say(.warning("service \(plan.nameString(running)): \(note)")) }
      tell(.ready(ports: ports.ownNumbers), now)
    case .gaveUp(let what): tell(.unready(what: what), now)
    }
  }

  /// Makes ready what a service needs before it starts.
  ///
  /// - Returns: why it cannot be started; nil where it can.
  func prepareService(_ task: TaskID) -> String? {
    do throws(Errno) {
      var watch = ServiceWatch(plan, task, try ports.reserve(for: task))
      if let what = watch.obstacle() { return what }
      service = consume watch
      return nil
    } catch {
      return "no free port can be had for it: \(error)"
    }
  }

  /// A command that looks whether the service is ready; what it prints is nobody's.
  private func startProbe(_ words: [String]) throws(WatchFault) -> Int32 {
    let command = words.joined(separator: " ")
    let null = try openNull(for: command)
    do throws(ProgramError) {
      let pid = try launcher.startBeside(words, output: null.rawValue)
      tree.probePID = pid
      watchChildren()
      return pid
    } catch {
      throw WatchFault(what: "`\(command)` cannot be executed: \(error.errno)")
    }
  }

  private func openNull(for command: String) throws(WatchFault) -> Descriptor {
    do throws(Errno) {
      return try File.openNull()
    } catch {
      throw WatchFault(what: "`\(command)` cannot be executed: \(error)")
    }
  }
}
