internal import OpflowCore
internal import OpflowSystem

/// While nothing is left but services that stay.
extension Coordinator {
  func attendServices() {
    if engine.isServing {
      if progress.isLive { display.showServing() }
      tellOfLackingRoom()
    }
    attendChanges()
  }

  /// Takes up what changes, when it is time to look.
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

  /// A drive that follows would start what is held back here.
  private var mayTakeUpChanges: Bool {
    engine.isServing && !engine.isPaused && stopsAsked == 0
  }

  /// A look at what changes is done.
  func takeLook() {
    // Who does not serve any more has it taken in when the drive is over.
    guard let serving = request.serving, mayTakeUpChanges, serving.isLookDone() else { return }
    let kept = serving.takeLook(at: Self.now, engine.heldServices) { progress.passage($0) }
    listen(to: serving.foldersDescriptor, Place.changes)
    guard let kept else { return }
    tell(.endServices(but: kept))
    performSteps()
  }

  /// - Parameter place: nil for no more. Where the system has no room for it, time alone passes.
  private func listen(to descriptor: Int32?, _ place: UInt32?) {
    guard let descriptor else { return }
    if let place {
      try? watch.add(descriptor, .coordinator, place)
    } else {
      try? watch.remove(descriptor)
    }
  }

  /// Tells of services that are to stay and have no room, once.
  private func tellOfLackingRoom() {
    for service in engine.servicesWithoutRoom where lackRoom.insert(service).inserted {
      progress.warning(
        "service \(plan.nameString(service)) waits for what others hold that stay:"
          + " opflow why \(plan.nameString(service))")
    }
  }
}
