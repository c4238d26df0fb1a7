package import OpflowBase
package import OpflowPlan
package import OpflowWire

package enum DownloadStep: Equatable, Sendable {
  case request(FetchRequest)
  /// The part is complete.
  case verify
  /// The server confirms the file at `to`.
  case keepTarget
  /// `removesPart`: the part failed its verification.
  case fail(DownloadDefeat, removesPart: Bool)
}

package enum BodyDecision: Equatable, Sendable {
  case write(BodyPlacement)
  /// The body is unwanted; `bodyEnded` knows the next step.
  case skip
}

package struct BodyPlacement: Equatable, Sendable {
  /// Empty the part first.
  package var startsOver: Bool
  package var offset: Int64
  /// Nil if only the end of the body shows its length. Further bytes are `overlong`.
  package var end: Int64?
  /// Write it before the first byte.
  package var record: PartRecord
}

package enum BodyEnd: Equatable, Sendable {
  case complete
  case broken(DownloadFailure)
  /// The body exceeded its end and was cut.
  case overlong
  /// The body broke off, but the hash is right.
  case proven
  /// Repeated bytes differ from the part.
  case differs
}

/// The decisions of one download attempt, without I/O or clock.
///
/// The caller performs each step and reports its result: a request with `received` and `bodyEnded`,
/// or with `bodyEnded` alone if there was no response head; a failed verification with
/// `mismatched`.
///
/// A part never mixes two versions of a file: a response continues it only if validators and length
/// do not contradict the record. Without a validator for the request, only an expected hash allows
/// continuing, and a mismatch then starts over.
package final class DownloadMachine {
  /// curl's default.
  package static let maxRedirects = 50

  private let spec: DownloadSpec
  private let bootID: String
  /// To ask if the file at `to` is current.
  private let known: Validator?

  private var part: PartOnDisk
  private let bytesBefore: Int64
  private var source = 0
  private var origin: WebAddress?
  private var request: FetchRequest?
  private var head: ResponseHead?
  private var answeredAt: Int64 = 0
  private var placement: BodyPlacement?
  private var pending: DownloadStep?
  private var failures: [SourceFailure] = []
  private var redirects = 0
  /// The part has bytes of several responses.
  private var isSpliced: Bool
  /// Only whole files may be requested.
  private var refusesRanges = false
  /// The source was asked for more after an inconclusive end.
  private var hasProbed = false
  private var isPartWorthless = false

  package init(spec: DownloadSpec, part: PartOnDisk, known: Validator?, bootID: String) {
    self.spec = spec
    self.part = part
    self.known = known
    self.bootID = bootID
    bytesBefore = part.bytes
    isSpliced = part.bytes > 0
  }

  /// The URL after redirects.
  package var url: String { request?.address.text ?? "" }
  package var currentSource: String { spec.sources[min(source, spec.sources.count - 1)] }
  private var recordedSource: String { Credentials.removed(from: spec.sources[source]) }
  package var record: PartRecord? { part.record }
  package var totalBytes: Int64? {
    part.record?.totalBytes ?? (part.record?.encoding.isEmpty == false ? nil : spec.sizeBytes)
  }

  package var gainedBytes: Int64 { max(0, part.bytes - bytesBefore) }

  package func start() -> DownloadStep {
    for header in spec.headers {
      guard let problem = header.problem else { continue }
      let failure = SourceFailure(url: "", failure: DownloadFailure(.request, problem))
      return .fail(DownloadDefeat(failures: [failure]), removesPart: false)
    }
    return askSource()
  }

  // MARK: - Asking

  private func askSource() -> DownloadStep {
    let text = spec.sources[source]
    do throws(WebAddress.ParseError) {
      let address = try WebAddress(text)
      if source == 0 { origin = address }
      redirects = 0
      refusesRanges = !spec.resumes || address.scheme == .file
      hasProbed = false
      return ask(address)
    } catch {
      return fail(DownloadFailure(.request, error.text))
    }
  }

  private func ask(_ address: WebAddress) -> DownloadStep {
    if isComplete, spec.hasHash, !refusesRanges { return .verify }
    var request = FetchRequest(address: address)
    let mayKnow = origin.map { $0.isSameOrigin(as: address) } ?? false
    request.headers = spec.headers.filter { $0.isHarmless || mayKnow }
    if let validator = rangeValidator {
      request.rangeFrom = part.bytes
      request.headers.append(DownloadHeader(name: "Range", value: "bytes=\(part.bytes)-"))
      if !validator.isEmpty {
        request.headers.append(DownloadHeader(name: "If-Range", value: validator))
      }
    } else if let known, source == 0, part.bytes == 0 {
      if !known.etag.isEmpty {
        request.headers.append(DownloadHeader(name: "If-None-Match", value: known.etag))
      }
      if !known.lastModified.isEmpty {
        request.headers.append(DownloadHeader(name: "If-Modified-Since", value: known.lastModified))
      }
    }
    request.dropsPart = isPartWorthless
    self.request = request
    head = nil
    placement = nil
    pending = nil
    return .request(request)
  }

  private func askAnew() -> DownloadStep {
    refusesRanges = true
    guard let request else { return askSource() }
    return ask(request.address)
  }

  private var isComplete: Bool {
    guard part.bytes > 0, let total = totalBytes else { return false }
    return part.bytes == total
  }

  /// Empty for no validator; nil if the part cannot be continued from this source.
  private var rangeValidator: String? {
    guard !refusesRanges, part.bytes > 0 else { return nil }
    if let total = totalBytes, part.bytes > total { return nil }
    let record = part.record
    let isOfSource = record?.source == recordedSource
    let validator = isOfSource ? record?.validator.forRange : nil
    if spec.hasHash { return validator ?? "" }
    // Without a hash, damage by a machine crash would go unnoticed.
    guard record?.bootID == bootID else { return nil }
    return validator
  }

  // MARK: - Responses

  /// Failed requests for a part before the whole file is requested.
  private static let mostRefusals = 3

  /// The server may still serve the whole file.
  private func cannotServeParts(_ status: Int) -> Bool {
    switch status {
    case 400, 403, 405, 406, 412, 417, 431, 501: return true
    case 500, 505..<600:
      // Usually temporary, and the part is worth another attempt.
      var record = part.record ?? PartRecord()
      record.refusals += 1
      part.record = record
      return record.refusals >= Self.mostRefusals
    default: return false
    }
  }

  /// - Parameter nowSeconds: Since the epoch, for the server's dates.
  package func received(_ head: ResponseHead, nowSeconds: Int64) -> BodyDecision {
    self.head = head
    answeredAt = nowSeconds
    switch head.status {
    // An unknown success is treated as 200 (RFC 9110, 15).
    case 200, 203, 209...225, 227..<300: return wholeBody(head)
    case 206: return partBody(head)
    case 304:
      if known != nil, source == 0, request?.rangeFrom == nil { return skip(.keepTarget) }
      let text = "answered 304 (not modified) to an unconditional request"
      return skip(fail(DownloadFailure(.nonsense, text)))
    case 300..<400 where !head.location.isEmpty: return skip(redirect(to: head.location))
    case 416:
      if let request, request.rangeFrom != nil { return skip(unsatisfied(head)) }
      return skip(refused(head, nowSeconds: nowSeconds))
    case _ where request?.rangeFrom != nil && cannotServeParts(head.status): return skip(askAnew())
    default: return skip(refused(head, nowSeconds: nowSeconds))
    }
  }

  private func skip(_ step: DownloadStep) -> BodyDecision {
    pending = step
    return .skip
  }

  private func refused(_ head: ResponseHead, nowSeconds: Int64) -> DownloadStep {
    let wait = RetryAfter.milliseconds(head.retryAfter, nowSeconds: nowSeconds)
    let phrase = head.phrase.isEmpty ? "" : " \(head.phrase)"
    return fail(
      DownloadFailure(
        .status(head.status), "answered \(head.status)\(phrase)", retryAfterMilliseconds: wait))
  }

  private func newRecord(_ head: ResponseHead, total: Int64?) -> PartRecord {
    var record = PartRecord()
    record.source = recordedSource
    record.url = url
    record.validator = validator(of: head)
    record.totalBytes = total
    record.encoding = head.encoding
    record.bootID = bootID
    return record
  }

  private func validator(of head: ResponseHead) -> Validator {
    var validator = head.validator
    validator.hasFreshDate = head.hasFreshDate(nowSeconds: answeredAt)
    return validator
  }

  private func wholeBody(_ head: ResponseHead) -> BodyDecision {
    if head.hasBrokenLength, !spec.hasHash {
      return skip(fail(DownloadFailure(.nonsense, "sent an invalid Content-Length")))
    }
    if looksLikeRest(head) { return skip(askAnew()) }
    return place(head, total: head.contentLength)
  }

  /// A response that claims to be whole may be the requested rest: it names a range, or has another
  /// length.
  private func looksLikeRest(_ head: ResponseHead) -> Bool {
    guard request?.rangeFrom != nil else { return false }
    if case .part(let first, _, _) = head.contentRange, first > 0 { return true }
    guard let record = part.record, record.source == recordedSource,
      record.encoding == head.encoding, let known = record.totalBytes, let told = head.contentLength
    else { return false }
    return known != told && record.validator.confirms(head.validator)
  }

  private func place(_ head: ResponseHead, total: Int64?) -> BodyDecision {
    let isPlain = head.encoding.isEmpty
    if isPlain, let size = spec.sizeBytes, let total, total != size {
      return skip(
        fail(DownloadFailure(.wrongSize, "is \(total) bytes long, expected \(size)")))
    }
    let record = newRecord(head, total: total)
    part = PartOnDisk(bytes: 0, record: record)
    isSpliced = false
    isPartWorthless = false
    let placement = BodyPlacement(
      startsOver: true, offset: 0, end: total ?? (isPlain ? spec.sizeBytes : nil), record: record)
    self.placement = placement
    return .write(placement)
  }

  private func partBody(_ head: ResponseHead) -> BodyDecision {
    guard case .part(let first, let last, let total) = head.contentRange, !head.isMultipart,
      !head.hasBrokenLength, head.contentLength == nil || head.contentLength == last - first + 1
    else {
      let isNamed = head.contentRange != nil || head.hasBrokenRange || head.isMultipart
      // The body may be the whole file with a wrong status; the hash decides.
      if request?.rangeFrom == nil, !isNamed, spec.hasHash { return wholeBody(head) }
      return skip(distrusted())
    }
    guard let asked = request?.rangeFrom else {
      // An unrequested range that is the whole file.
      if first == 0, total == last + 1 { return place(head, total: total) }
      return skip(distrusted())
    }
    var record = part.record ?? newRecord(head, total: total)
    let isOfSource = record.source == recordedSource
    let fits =
      first <= asked && head.encoding == record.encoding
      && !(isOfSource && record.validator.contradicts(head.validator))
      && (spec.hasHash || bears(head, record.validator))
      && (total == nil || record.totalBytes == nil || total == record.totalBytes)
      && (total == nil || spec.sizeBytes == nil || !head.encoding.isEmpty
        || total == spec.sizeBytes)
    guard fits, last >= asked else { return skip(distrusted()) }
    if !isOfSource { record = newRecord(head, total: record.totalBytes) }
    if record.validator.isEmpty { record.validator = validator(of: head) }
    record.totalBytes = record.totalBytes ?? total
    record.url = url
    record.bootID = bootID
    record.refusals = 0
    part.record = record
    isSpliced = true
    let placement = BodyPlacement(startsOver: false, offset: first, end: last + 1, record: record)
    self.placement = placement
    return .write(placement)
  }

  /// Proves the version without an expected hash. Each part must carry the ETag of the whole (RFC
  /// 9110, 15.3.7); a server that omits it may have ignored the condition.
  private func bears(_ head: ResponseHead, _ wanted: Validator) -> Bool {
    wanted.etag.isEmpty || !head.etag.isEmpty
      || (!wanted.lastModified.isEmpty && wanted.lastModified == head.lastModified)
  }

  /// Requests the whole file once, then gives up on this source.
  private func distrusted() -> DownloadStep {
    if request?.rangeFrom != nil { return askAnew() }
    return fail(DownloadFailure(.nonsense, "sent a byte range that opflow did not request"))
  }

  private func unsatisfied(_ head: ResponseHead) -> DownloadStep {
    var total: Int64?
    if case .unsatisfied(let bytes) = head.contentRange { total = bytes }
    let known = part.record?.totalBytes
    if part.record?.validator.contradicts(head.validator) != true,
      known == nil || known == part.bytes, total == part.bytes || (total == nil && spec.hasHash)
    {
      if hasProbed { return .verify }
      // For exclusive access to `part`.
      let bytes = part.bytes
      part.record?.totalBytes = bytes
      return .verify
    }
    return askAnew()
  }

  private func redirect(to location: String) -> DownloadStep {
    guard let request else { return askSource() }
    redirects += 1
    let shown = Credentials.hidden(inAddress: location)
    if redirects > Self.maxRedirects {
      return fail(
        DownloadFailure(
          .tooManyRedirects, "redirected more than \(Self.maxRedirects) times, last to \(shown)"))
    }
    do throws(WebAddress.ParseError) {
      let target = try request.address.resolving(location)
      if target.scheme == .file {
        return fail(
          DownloadFailure(.forbiddenRedirect, "redirected to a local file, which opflow refuses"))
      }
      if request.address.scheme == .https, target.scheme == .http {
        return fail(
          DownloadFailure(
            .forbiddenRedirect,
            "redirected from https to http, which opflow refuses: \(target.text)"))
      }
      return ask(target)
    } catch {
      return fail(DownloadFailure(.brokenRedirect, "redirected to '\(shown)': \(error.text)"))
    }
  }

  // MARK: - Ends

  /// - Parameter partBytes: The present length of the part.
  package func bodyEnded(_ end: BodyEnd, partBytes: Int64) -> DownloadStep {
    if let step = pending {
      pending = nil
      return step
    }
    if placement != nil { part.bytes = partBytes }
    switch end {
    case .broken(let failure): return fail(failure)
    case .proven: return .verify
    case .differs: return askAnew()
    case .overlong: return overlong()
    case .complete: return completed()
    }
  }

  private func overlong() -> DownloadStep {
    if request?.rangeFrom != nil { return spec.hasHash && isComplete ? .verify : askAnew() }
    isPartWorthless = true
    return fail(
      DownloadFailure(
        .wrongSize, "is longer than the expected \(spec.sizeBytes ?? part.bytes) bytes"))
  }

  private func completed() -> DownloadStep {
    guard let placement, let head else {
      return fail(DownloadFailure(.nonsense, "ended without a response"))
    }
    if let end = placement.end, part.bytes < end { return fail(truncated(end)) }
    if request?.rangeFrom != nil, placement.offset > 0 || head.status == 206 {
      // A server may send less than the rest, so ask until the total is known and reached.
      if let total = part.record?.totalBytes {
        if part.bytes < total { return continued() }
      } else {
        return continued()
      }
    }
    return .verify
  }

  private func truncated(_ end: Int64) -> DownloadFailure {
    DownloadFailure(.truncated, "ended after \(part.bytes) of \(end) bytes")
  }

  private func continued() -> DownloadStep {
    guard let request, part.bytes > (request.rangeFrom ?? 0) else {
      return fail(DownloadFailure(.nonsense, "sent a byte range without new bytes"))
    }
    return ask(request.address)
  }

  /// A complete part failed its verification.
  package func mismatched(_ failure: DownloadFailure) -> DownloadStep {
    if head?.isClosedByEnd == true, !hasProbed, !refusesRanges, part.record?.totalBytes == nil,
      spec.hasHash, let request, request.address.scheme != .file
    {
      // The end of a connection proves nothing: ask for more.
      hasProbed = true
      return ask(request.address)
    }
    part = PartOnDisk()
    isPartWorthless = true
    if isSpliced {
      isSpliced = false
      return askAnew()
    }
    return fail(failure)
  }

  /// Gives up on this source for this attempt.
  package func fail(_ failure: DownloadFailure) -> DownloadStep {
    let url = Credentials.hidden(inAddress: currentSource)
    failures.append(SourceFailure(url: url, failure: failure))
    // A part that only this source can continue is worth another attempt before a mirror starts
    // over.
    let isTiedToSource = !spec.hasHash && gainedBytes > 0 && failure.verdict == .again
    if !failure.isLocal, !isTiedToSource, source + 1 < spec.sources.count {
      source += 1
      return askSource()
    }
    return .fail(DownloadDefeat(failures: failures), removesPart: isPartWorthless)
  }
}

package struct FetchRequest: Equatable, Sendable {
  package var address: WebAddress
  package var headers: [DownloadHeader] = []
  /// Nil for the whole file.
  package var rangeFrom: Int64?
  /// Empty the part first.
  package var dropsPart = false

  package init(address: WebAddress) { self.address = address }
}

package struct FileFacts: Equatable, Sendable {
  package var sizeBytes: Int64
  /// Lower-case hexadecimal; empty if not computed.
  package var sha256 = ""
  package var sha512 = ""

  package init(sizeBytes: Int64, sha256: String = "", sha512: String = "") {
    self.sizeBytes = sizeBytes
    self.sha256 = sha256
    self.sha512 = sha512
  }
}

extension DownloadSpec {
  /// Returns nil if the facts match.
  package func mismatch(_ facts: FileFacts) -> DownloadFailure? {
    if let sizeBytes, facts.sizeBytes != sizeBytes {
      return DownloadFailure(
        .wrongSize, "is \(facts.sizeBytes) bytes long, expected \(sizeBytes)")
    }
    for (name, wanted, found) in [
      ("SHA-256", sha256, facts.sha256), ("SHA-512", sha512, facts.sha512),
    ] where !wanted.isEmpty && wanted != found {
      return DownloadFailure(.wrongHash, "has \(name) \(found), expected \(wanted)")
    }
    return nil
  }
}

/// For an encoding that was not requested.
package enum UnaskedEncoding: Equatable, Sendable {
  /// Some servers report compressed archives as encoded.
  case isTheFile
  /// Nested codings. Deflate has no magic number.
  case undo(layers: Int, beginsAsGzip: Bool)
  case unknown

  /// Also libcurl's limit; more would be an attack.
  private static let mostLayers = 5

  /// Suffixes, and the encodings that servers report for them.
  private static let compressed: [(codings: [String], suffixes: [String])] = [
    (["gzip", "x-gzip", "deflate"], [".gz", ".tgz", ".svgz", ".emz", ".z"]),
    (["compress", "x-compress"], [".z", ".taz"]),
    (["bzip2", "x-bzip2"], [".bz2", ".tbz", ".tbz2"]), (["xz", "x-xz"], [".xz", ".txz"]),
    (["br"], [".br"]), (["zstd"], [".zst", ".tzst"]),
  ]

  /// - Parameter encoding: Codings in the order of application, separated by commas.
  package init(_ encoding: String, url: String) {
    let codings = encoding.split { ", ".contains($0) }.map(String.init)
    guard let outermost = codings.last else {
      self = .isTheFile
      return
    }
    let name = ((try? WebAddress(url))?.lastPathPart ?? "").lowercased()
    let isCompressed = Self.compressed.contains { kind in
      codings.contains { kind.codings.contains($0) }
        && kind.suffixes.contains(where: name.hasSuffix)
    }
    if isCompressed {
      // It is unknown which of several codings belong to the file.
      self = codings.count == 1 ? .isTheFile : .unknown
    } else if codings.count <= Self.mostLayers,
      codings.allSatisfy({ ["gzip", "x-gzip", "deflate"].contains($0) })
    {
      self = .undo(layers: codings.count, beginsAsGzip: outermost != "deflate")
    } else {
      self = .unknown
    }
  }
}
