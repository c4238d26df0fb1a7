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
    guard engine.isServing, stopsAsked == 0 else {
      if serving.isLooking {
        watchFolders(of: serving, false)
        serving.end()
      }
      return
    }
    if !serving.isLooking {
      if let note = serving.begin(at: Self.now) { progress.note(note) }
      watchFolders(of: serving, true)
    }
    guard let due = serving.nextLook, due <= Self.now else { return }
    watchFolders(of: serving, false)
    let held = HeldServices(plan: plan, services: engine.heldServices)
    let kept = serving.look(at: Self.now, held) { note in
      progress.note(note)
      // What is wrong is told behind it, and not by the view.
      progress.flush(at: Self.now)
    }
    watchFolders(of: serving, true)
    guard let kept else { return }
    tell(.endServices(but: kept))
    performSteps()
  }

  /// Where the system has none to spare, time alone passes.
  private func watchFolders(of serving: ServingWatch, _ isOn: Bool) {
    guard let descriptor = serving.rawDescriptor else { return }
    if isOn {
      try? watch.add(descriptor, .coordinator, Place.changes)
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
