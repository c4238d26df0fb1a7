internal import OpflowBase
internal import OpflowDownload
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

/// One attempt of a download, in small steps so that messages are read in between.
final class ActiveDownload: TransferReceiver {
  private enum Phase {
    case beginning
    case checkingTarget(TargetCheck)
    /// Hashing the part before it is continued or verified.
    case hashing(DownloadStep)
    case transferring
    case decoding(DecodedPart)
    /// The file is verified, and is being synced and renamed.
    case settling(FinishedFile, FileFacts, DecodedPart?)
    case ended(DownloadEnd)
  }

  /// An unwanted body is read up to these limits, to keep the connection usable.
  private static let skippedBytes = 64 * 1024
  private static let skippedNanoseconds: Int64 = 1_000_000_000
  private static let writeNanoseconds: Int64 = 500_000_000

  private let spec: DownloadSpec
  private let masker: Masker?
  private let obstacle: DownloadFailure?
  private let proxies: ProxySettings
  private let tools: Tools
  private var phase = Phase.beginning
  private var machine: DownloadMachine?
  private var part: PartFile?
  private var headReader = ResponseHeadReader()
  private var head: ResponseHead?
  private var answeredAt: Int64 = 0
  private var lastActivity: Int64 = 0
  private(set) var report = FetchReport()
  private var kept: FileFacts?
  private var knownValidator = Validator()

  private var placement: BodyPlacement?
  private var position: Int64 = 0
  private var skipped = 0
  /// Why this side ended the transfer.
  private var ending: BodyEnd?

  init(
    _ spec: DownloadSpec, obstacle: DownloadFailure? = nil, masker: Masker?,
    proxies: ProxySettings, tools: Tools
  ) {
    self.spec = spec
    self.obstacle = obstacle
    self.masker = masker
    self.proxies = proxies
    self.tools = tools
  }

  var end: DownloadEnd? {
    if case .ended(let end) = phase { return end }
    return nil
  }

  /// The download has no other work.
  var isTransferring: Bool {
    if case .transferring = phase { return true }
    return false
  }

  var isRight: Bool {
    if case .settling = phase { return true }
    return false
  }

  var finished: FinishedFile? {
    if case .settling(let file, _, _) = phase { return file }
    return nil
  }

  private var hasAnswered: Bool { head != nil }
  var doneBytes: Int64 { part?.byteCount ?? 0 }
  var totalBytes: Int64? { machine?.totalBytes ?? spec.sizeBytes }

  // MARK: - Steps

  /// Works, or waits for work or for one of `others` to be readable. Returns true if one is.
  func advance(others: [Int32], milliseconds: Int32) -> Bool {
    do throws(DownloadFailure) {
      switch phase {
      case .beginning:
        if let obstacle { throw obstacle }
        try begin()
      case .checkingTarget(let check): try goOn(check)
      case .hashing(let next): if try part?.hashNext() != true { try perform(next) }
      case .transferring: return try transfer(others: others, milliseconds: milliseconds)
      case .decoding(let decoded): try goOn(decoded)
      case .settling, .ended: break
      }
    } catch {
      tools.transfer.cancel()
      finish(.failure(defeat(error)))
    }
    return false
  }

  /// Returns false while the file is not in place.
  func noteSettled() -> Bool {
    guard case .settling(let file, let facts, let decoded) = phase else { return end != nil }
    switch file.stage {
    case .storing, .stored, .placing: return false
    case .failed(let failure):
      decoded?.remove()
      finish(.failure(defeat(failure)))
    case .done:
      let record = part?.record
      if decoded == nil { part?.removeRecord() } else { part?.remove() }
      succeed(facts, record)
    }
    return true
  }

  func abandon() {
    switch phase {
    case .beginning, .checkingTarget, .hashing, .transferring: tools.transfer.cancel()
    case .decoding(let decoded): decoded.remove()
    case .settling(let file, _, let decoded):
      tools.settler.retract(file)
      decoded?.remove()
    case .ended: break
    }
    noteReport()
    letGo()
  }

  /// Keeps the part for another attempt, unless it is empty.
  private func letGo() {
    try? part?.keep()
    if part?.byteCount == 0 { part?.remove() }
    part = nil
  }

  /// A pause of the run is not silence.
  func resumeClock() { lastActivity = Clock.monotonicNanoseconds }

  private func defeat(_ failure: DownloadFailure) -> DownloadDefeat {
    DownloadDefeat(failures: [SourceFailure(url: "", failure: failure)])
  }

  private func finish(_ end: DownloadEnd) {
    noteReport()
    if case .failure(let defeat) = end {
      report.detail = defeat.text
      report.waitMilliseconds = defeat.retryAfterMilliseconds ?? 0
    }
    phase = .ended(end)
    switch end {
    case .success: part = nil
    case .failure: letGo()
    }
  }

  private func noteReport() {
    report.source = FetchReport.sourceHash(spec.sources[0])
    if let machine {
      report.source = FetchReport.sourceHash(machine.currentSource)
      report.gainedBytes = max(0, doneBytes - initialBytes)
    }
  }

  private var initialBytes: Int64 = 0

  // MARK: - The target

  private func begin() throws(DownloadFailure) {
    let folder = Path.parent(of: spec.target)
    do throws(Errno) {
      try Path.makeDirectories(folder, mode: 0o777)
    } catch {
      throw LocalFailure.of("cannot create the folder \(folder)", error)
    }
    try Place.refuseOther(spec.target)
    guard let hash = ContentHash(for: spec) else {
      throw LocalFailure.of("cannot compute a hash", .noMemory)
    }
    let last = spec.hasHash ? nil : tools.lastSuccess(spec.sources[0])
    if spec.hasHash || last != nil, let check = try TargetCheck(spec, hash: hash, last: last) {
      phase = .checkingTarget(check)
    } else {
      try openPart(hash)
    }
  }

  private func goOn(_ check: TargetCheck) throws(DownloadFailure) {
    if try check.advance() { return }
    let facts = check.hash.facts
    check.hash.reset()
    if check.isRight(facts) {
      if let last = check.last {
        knownValidator = last.validator
        kept = facts
      } else {
        try keep(facts)
        return
      }
    }
    try openPart(check.hash)
  }

  private func keep(_ facts: FileFacts) throws(DownloadFailure) {
    if let mode = spec.mode {
      do throws(Errno) {
        if try Path.status(spec.target).mode != mode {
          try File.open(spec.target, .readOnly).setMode(mode)
        }
      } catch {
        throw LocalFailure.of("cannot set the mode of \(spec.target)", error)
      }
    }
    report.isKept = true
    note(facts)
    report.validator = knownValidator
    part?.remove()
    finish(.success)
  }

  private func note(_ facts: FileFacts) {
    report.sizeBytes = facts.sizeBytes
    report.sha256 = facts.sha256
    report.sha512 = facts.sha512
  }

  // MARK: - The part

  private func openPart(_ hash: ContentHash) throws(DownloadFailure) {
    let part = try PartFile(spec, hash: hash, piece: tools.buffer.take())
    self.part = part
    if !spec.resumes { try part.empty() }
    initialBytes = part.byteCount
    let machine = DownloadMachine(
      spec: spec, part: PartOnDisk(bytes: part.byteCount, record: part.record),
      known: knownValidator.isEmpty ? nil : knownValidator, bootID: tools.bootID)
    self.machine = machine
    try perform(machine.start())
  }

  private func perform(_ step: DownloadStep) throws(DownloadFailure) {
    guard let part else { return }
    switch step {
    case .request(let request):
      if request.dropsPart { try part.empty() }
      if let from = request.rangeFrom, part.hash.byteCount != from {
        phase = .hashing(step)
      } else {
        try send(request)
      }
    case .verify:
      if part.hash.byteCount == part.byteCount {
        try verify(part)
      } else {
        phase = .hashing(step)
      }
    case .keepTarget:
      if let kept { try keep(kept) }
    case .fail(let defeat, let removesPart):
      if removesPart {
        part.remove()
        self.part = nil
      } else if let record = machine?.record {
        part.note(written(record))
      }
      finish(.failure(defeat))
    }
  }

  private func verify(_ part: PartFile) throws(DownloadFailure) {
    let facts = part.hash.facts
    let record = part.record
    let isProven = spec.hasHash && spec.mismatch(facts) == nil
    let encoding = UnaskedEncoding(record?.encoding ?? "", url: machine?.url ?? "")
    switch encoding {
    case .undo(let layers, let beginsAsGzip) where !isProven:
      if beginsAsGzip ? try isGzip(part) : true {
        phase = .decoding(try DecodedPart(part, layers: layers))
        return
      }
    case .unknown where !isProven:
      let text = "is encoded as \(record?.encoding ?? ""), which opflow did not request"
      try mismatched(DownloadFailure(.encoding, text))
      return
    case .isTheFile, .undo, .unknown: break
    }
    if let failure = spec.mismatch(facts) {
      try mismatched(failure)
      return
    }
    settle(try part.finished(mode: spec.mode ?? tools.standardMode), facts)
  }

  /// The header may be wrong.
  private func isGzip(_ part: PartFile) throws(DownloadFailure) -> Bool {
    try part.withPiece(at: 0) { $0.starts(with: [0x1f, 0x8b]) }
  }

  private func settle(_ file: FinishedFile, _ facts: FileFacts, _ decoded: DecodedPart? = nil) {
    phase = .settling(file, facts, decoded)
    tools.settler.begin(file)
  }

  private func goOn(_ decoded: DecodedPart) throws(DownloadFailure) {
    do throws(DownloadFailure) {
      if try decoded.advance() { return }
      if let failure = spec.mismatch(decoded.facts) { throw failure }
      part?.release()
      settle(decoded.finished(mode: spec.mode ?? tools.standardMode), decoded.facts, decoded)
    } catch {
      decoded.remove()
      if error.isLocal { throw error }
      try mismatched(error)
    }
  }

  private func mismatched(_ failure: DownloadFailure) throws(DownloadFailure) {
    guard let step = machine?.mismatched(failure) else { return }
    try perform(step)
  }

  private func succeed(_ facts: FileFacts, _ record: PartRecord?) {
    note(facts)
    if let record { report.validator = record.validator.forLater }
    report.url = machine?.url ?? ""
    report.resumedBytes = resumedBytes
    finish(.success)
  }

  /// Bytes of earlier attempts.
  private(set) var resumedBytes: Int64 = 0

  // MARK: - Transfers

  /// Set for a `file:` source only.
  private var fileHead: ResponseHead?

  private func send(_ request: FetchRequest) throws(DownloadFailure) {
    headReader = ResponseHeadReader()
    placement = nil
    ending = nil
    skipped = 0
    head = nil
    resumeClock()
    phase = .transferring
    do throws(DownloadFailure) {
      fileHead = try LocalFile.head(request.address)
      try tools.transfer.begin(
        request, maxBytesPerSecond: spec.maxBytesPerSecond,
        proxy: proxies.proxy(for: request.address.scheme), noProxy: proxies.exceptions,
        receiver: self)
    } catch {
      try ended(.broken(error))
    }
  }

  private func transfer(others: [Int32], milliseconds: Int32) throws(DownloadFailure) -> Bool {
    let (progress, isElsewhere) = tools.transfer.step(others: others, milliseconds: milliseconds)
    let now = Clock.monotonicNanoseconds
    switch progress {
    case .running:
      if part?.isDue(now, after: Self.writeNanoseconds) == true { try part?.flush() }
      let patience =
        hasAnswered
        ? tools.patience.betweenBytes + Transfer.pauseNanoseconds(spec.maxBytesPerSecond)
        : tools.patience.beforeAnswer
      if hasAnswered, placement == nil, now - answeredAt > Self.skippedNanoseconds {
        tools.transfer.cancel()
        try ended(.complete)
      } else if now - lastActivity > patience {
        tools.transfer.cancel()
        let text = "sent nothing for \(patience / 1_000_000_000) seconds"
        try ended(.broken(DownloadFailure(.stalled, text)))
      }
    case .ended(let failure):
      if failure == nil, !hasAnswered, ending == nil { answerForFile() }
      if let ending {
        try ended(ending)
      } else if let failure {
        try ended(.broken(failure))
      } else if head?.isClosedByEnd == true, tools.transfer.wasCut {
        // Without an announced length, only a proper end is complete (RFC 9112, 9.8).
        let text = "the TLS connection ended without a close alert, so the file may be incomplete"
        try ended(.broken(DownloadFailure(.truncated, text)))
      } else {
        try ended(.complete)
      }
    }
    return isElsewhere
  }

  private func ended(_ end: BodyEnd) throws(DownloadFailure) {
    if case .broken(let failure) = end, failure.isLocal { throw failure }
    var end = end
    if case .broken = end, let part, part.byteCount > 0, part.hash.byteCount == part.byteCount,
      spec.hasHash, spec.mismatch(part.hash.facts) == nil
    {
      end = .proven
    }
    guard let step = machine?.bodyEnded(end, partBytes: part?.byteCount ?? 0) else { return }
    try perform(step)
  }

  private func written(_ record: PartRecord) -> PartRecord {
    masker.map { record.masked(by: $0) } ?? record
  }

  private func answerForFile() {
    if let fileHead { answer(fileHead) }
  }

  func takeLine(_ bytes: UnsafeRawBufferPointer) -> Bool {
    // An endless head is not activity.
    if hasAnswered { lastActivity = Clock.monotonicNanoseconds }
    if let head = headReader.take(bytes) { answer(head) }
    return ending == nil
  }

  private func answer(_ head: ResponseHead) {
    self.head = head
    answeredAt = Clock.monotonicNanoseconds
    lastActivity = answeredAt
    let nowSeconds = Clock.wallMilliseconds / 1000
    guard let part, let decision = machine?.received(head, nowSeconds: nowSeconds) else { return }
    switch decision {
    // The connection closes anyway: do not wait for its end.
    case .skip: if head.isLast { ending = .complete }
    case .write(let placement):
      do throws(DownloadFailure) {
        if placement.startsOver {
          try part.empty()
          resumedBytes = 0
        } else if resumedBytes == 0, initialBytes > 0 {
          resumedBytes = min(initialBytes, placement.offset)
        }
        part.note(written(placement.record))
        position = placement.offset
        self.placement = placement
      } catch {
        ending = .broken(error)
      }
    }
  }

  func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    lastActivity = Clock.monotonicNanoseconds
    if !hasAnswered { answerForFile() }
    guard ending == nil else { return false }
    guard let part, let placement else {
      skipped += bytes.count
      if skipped <= Self.skippedBytes { return true }
      // Closing the connection costs less than reading the rest.
      ending = .complete
      return false
    }
    do throws(DownloadFailure) {
      var bytes = bytes
      if let end = placement.end, position + Int64(bytes.count) > end {
        bytes = UnsafeRawBufferPointer(rebasing: bytes[..<Int(end - position)])
        ending = .overlong
      }
      let known = min(Int(max(0, part.byteCount - position)), bytes.count)
      if known > 0 {
        let repeated = UnsafeRawBufferPointer(rebasing: bytes[..<known])
        try part.flush()
        if try !part.holds(repeated, at: position) {
          ending = .differs
          return false
        }
      }
      try part.append(UnsafeRawBufferPointer(rebasing: bytes[known...]))
      position += Int64(bytes.count)
      if head?.isIdentity == true, position == placement.end, ending == nil {
        ending = .complete
      }
    } catch {
      ending = .broken(error)
    }
    return ending == nil
  }
}

enum DownloadEnd {
  case success
  case failure(DownloadDefeat)
}

extension ActiveDownload {
  /// Shared by all downloads of the worker.
  struct Tools {
    let transfer: Transfer
    let settler: Settler
    let buffer: SpareBuffer
    let bootID: String
    let standardMode: UInt32
    let patience: Patience
    let lastSuccess: (String) -> FetchReport?
  }

  /// Nanoseconds for which the server may be silent.
  struct Patience {
    var beforeAnswer: Int64 = 60_000_000_000
    var betweenBytes: Int64 = 20_000_000_000
  }
}

/// Hashes the file at `to`: the requested one or the last download's.
final class TargetCheck {
  let hash: ContentHash
  /// Nil if the manifest gives a hash.
  let last: FetchReport?
  private let spec: DownloadSpec
  private let file: Descriptor
  private var piece = [UInt8](repeating: 0, count: 256 * 1024)

  init?(_ spec: DownloadSpec, hash: ContentHash, last: FetchReport?) throws(DownloadFailure) {
    self.spec = spec
    self.hash = hash
    self.last = last
    guard let file = try? File.open(spec.target, [.readOnly, .nonblocking]),
      let status = try? file.status()
    else { return nil }
    let size = last?.sizeBytes ?? spec.sizeBytes
    guard status.kind == .file, size == nil || size == status.sizeBytes,
      TrustedWriters.own.mayKeep(status, in: Path.parent(of: spec.target))
    else { return nil }
    self.file = file
  }

  /// Returns false at the end.
  func advance() throws(DownloadFailure) -> Bool {
    do throws(Errno) {
      return try piece.withUnsafeMutableBufferPointer { piece throws(Errno) in
        let room = UnsafeMutableRawBufferPointer(piece)
        let count = try file.read(into: room)
        hash.update(UnsafeRawBufferPointer(rebasing: room[..<count]))
        return count > 0
      }
    } catch {
      throw LocalFailure.of("cannot read \(spec.target)", error)
    }
  }

  func isRight(_ facts: FileFacts) -> Bool {
    guard let last else { return spec.mismatch(facts) == nil }
    return facts.sha256 == last.sha256 && facts.sizeBytes == last.sizeBytes
  }
}
