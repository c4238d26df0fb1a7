internal import OpflowPlan
internal import OpflowSystem

extension CommandWorker {
  /// After the files.
  func takeValuesBroughtBack() {
    guard let files else { return }
    do throws(WorkerRefusal) {
      _ = try values.begin(running, log.attempt, mayHoldSecrets: masker != nil)
      try values.take(files.broughtValues)
      files.noteValuesBroughtBack(values.files(frame.masker))
    } catch {
      // The next `begin` makes the folder again.
      files.giveUpBringingBack(CacheFault(what: error.what))
    }
  }

  /// The result is recorded by now.
  func takeBroughtBack(_ result: RecordResult, _ now: Instant) {
    if let path = files?.broughtOutput { replay(path) }
    checkLog(now)
    tell(.broughtBack(result), now)
  }

  /// Old outputs could not be removed.
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
