internal import OpflowEngine
internal import OpflowSystem

extension Coordinator {
  private func tellAway(_ make: MakeJobs) {
    let own = UInt64(1 + make.tokens.count)
    let all = request.options.maxParallel
    tell(.away(all - min(all, own)))
  }

  /// Takes or returns tokens. Returns whether the share changed.
  func shareWithMake() -> Bool {
    guard let make else { return false }
    let share = engine.processorShare(at: Self.now)
    let count = make.tokens.count
    if share.spare > 0, count > 0 {
      make.giveBack(Int(clamping: min(share.spare, UInt64(count))))
    } else if share.wanted > 0 {
      _ = make.take(Int(clamping: share.wanted))
    }
    awaitJobs(of: make, share.wanted > 0 && count == make.tokens.count)
    if count == make.tokens.count { return false }
    tellAway(make)
    return true
  }

  private func awaitJobs(of make: MakeJobs, _ isWanted: Bool) {
    if isWanted == make.isWatched { return }
    do throws(Errno) {
      if isWanted {
        try watch.add(make.rawDescriptor, .coordinator, Place.make)
      } else {
        try watch.remove(make.rawDescriptor)
      }
      make.isWatched = isWanted
    } catch {
      // The run continues with the jobs that it has.
    }
  }

  func leaveMake() {
    guard let make else { return }
    awaitJobs(of: make, false)
    make.giveBack(make.tokens.count)
  }
}
