internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

extension CommandWorker {
  func lookAtService(_ now: Instant) {
    guard let deadline = service?.deadline, deadline <= now else { return }
    let look = service?.look(
      at: now, start: { words throws(WatchFault) in try startProbe(words) },
      kill: { ProcessTree.killAll(from: $0) })
    switch look {
    case .again, nil: break
    case .ready(let note):
      if !note.isEmpty { frame.say(.warning("service \(plan.nameString(running)): \(note)")) }
      tell(.ready(ports: ports.ownNumbers), now)
    case .gaveUp(let what):
      _ = probeOutput?.take()
      keepLines(probeOutput?.takeLastLines() ?? [], now)
      tell(.unready(what: what), now)
    }
  }

  /// Returns why the service cannot start.
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

  /// Its last output is shown if the service never becomes ready. Returns 0 if no process can be
  /// made at the moment.
  private func startProbe(_ words: [String]) throws(WatchFault) -> Int32 {
    do throws(Errno) {
      let pipe = try Pipe()
      _ = probeOutput?.take()
      let earlier = probeOutput?.takeLastLines() ?? []
      let output = try ProbeOutput(of: words, pipe, frame.masker, earlier: earlier)
      let pid = try start(words, output: pipe.write.rawValue)
      frame.poll.set(Slot.probe, output.rawDescriptor)
      probeOutput = consume output
      tree.probePID = pid
      watchChildren()
      return pid
    } catch  where error.isShortage {
      return 0
    } catch {
      let command = words.joined(separator: " ")
      throw WatchFault(
        what: "`\(command)` cannot be executed, which is to tell that it is ready: \(error)")
    }
  }

  private func start(
    _ words: [String], output: Int32
  ) throws(Errno) -> Int32 {
    do throws(ProgramError) {
      return try launcher.startBeside(words, output: output)
    } catch {
      throw error.errno
    }
  }

  func takeProbeOutput() {
    if probeOutput?.take() != true { frame.poll.clear(Slot.probe) }
  }

  func endProbeOutput() {
    frame.poll.clear(Slot.probe)
    probeOutput = nil
  }
}
