internal import OpflowCore
internal import OpflowSystem

/// Results of tasks that come back from a cache.
extension CommandWorker {
  /// Its files are back: its values follow.
  func takeValuesBroughtBack() {
    guard let files else { return }
    do throws(WorkerRefusal) {
      _ = try values.begin(running, log.attempt, mayHoldSecrets: masker != nil)
      try values.take(files.broughtValues)
      files.noteValuesBroughtBack(values.files(frame.masker))
    } catch {
      // A further begin makes the folder anew.
      files.giveUpBringingBack(CacheFault(what: error.what))
    }
  }

  /// It is written down: what it printed then comes again.
  func takeBroughtBack(_ result: RecordResult, _ now: Instant) {
    if let path = files?.broughtOutput { replay(path) }
    checkLog(now)
    tell(.broughtBack(result), now)
  }

  /// What the task left before cannot be removed: it does not start.
  func endUncleaned(_ what: String, _ now: Instant) {
    files?.end()
    tell(.unfit(what: what), now)
  }

  private func replay(_ path: String) {
    guard let file = try? File.openRegular(path, .readOnly) else { return }
    while true {
      let count = chunk.withUnsafeMutableBytes { chunk in (try? file.read(into: chunk)) ?? 0 }
      if count == 0 { return }
      chunk.withUnsafeBytes { keepMasked(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
  }
}
