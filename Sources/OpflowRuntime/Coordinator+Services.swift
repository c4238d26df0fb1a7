internal import OpflowEngine
internal import OpflowPlan
internal import OpflowSystem

/// While only services that stay up are left.
extension Coordinator {
  func attendServices() {
    if engine.isServing {
      if progress.isLive { display.showServing() }
      tellOfLackingRoom()
    }
    attendChanges()
  }

  private func attendChanges() {
    guard let serving = request.serving else { return }
    guard mayTakeUpChanges else {
      if serving.isLooking {
        listen(to: serving.foldersDescriptor, nil)
        listen(to: serving.lookDescriptor, nil)
        serving.end()
      }
      return
    }
    if !serving.isLooking {
      serving.begin(at: Self.now)
      listen(to: serving.lookDescriptor, Place.look)
    }
    if engine.servicesAreUp, let note = serving.takeNote() { progress.note(note) }
    guard let due = serving.nextLook, due <= Self.now else { return }
    listen(to: serving.foldersDescriptor, nil)
    let held = HeldServices(plan: plan, services: engine.heldServices)
    if serving.beginLook(held) { takeLook() }
  }

  /// While paused or stopping, a new session would start what is held back.
  private var mayTakeUpChanges: Bool {
    engine.isServing && !engine.isPaused && stopsAsked == 0
  }

  func takeLook() {
    // If this session serves no longer, the scan is collected after it.
    guard let serving = request.serving, mayTakeUpChanges, serving.isLookDone() else { return }
    let kept = serving.takeLook(at: Self.now, engine.heldServices) { progress.passage($0) }
    listen(to: serving.foldersDescriptor, Place.changes)
    guard let kept else { return }
    tell(.endServices(but: kept))
    performSteps()
  }

  /// nil as `place` stops watching. If the descriptor cannot be watched, the timer is left.
  private func listen(to descriptor: Int32?, _ place: UInt32?) {
    guard let descriptor else { return }
    if let place {
      try? watch.add(descriptor, .coordinator, place)
    } else {
      try? watch.remove(descriptor)
    }
  }

  private func tellOfLackingRoom() {
    for service in engine.servicesWithoutRoom where lackRoom.insert(service).inserted {
      progress.warning(
        "service \(plan.nameString(service)) waits for what others hold that stay:"
          + " opflow why \(plan.nameString(service))")
    }
  }
}
