import OpflowBase
import OpflowDownload
import OpflowPlan
import OpflowWire
import Testing

@Suite("What a download decides")
struct DownloadMachineTests {
  private let url = "http://h/x"
  private let boot = "boot-1"

  private func spec(hash: Bool = false, mirrors: [String] = []) -> DownloadSpec {
    var spec = DownloadSpec(sources: [url] + mirrors, target: "/t/x")
    if hash { spec.sha256 = String(repeating: "0", count: 64) }
    return spec
  }

  private func record(
    etag: String = "\"v1\"", date: String = "", total: Int64? = 100, boot: String = "boot-1"
  ) -> PartRecord {
    var record = PartRecord()
    record.source = url
    record.validator = Validator(etag: etag, lastModified: date)
    record.totalBytes = total
    record.bootID = boot
    return record
  }

  private func machine(
    _ spec: DownloadSpec, _ part: PartOnDisk = PartOnDisk(), known: Validator? = nil
  ) -> DownloadMachine {
    DownloadMachine(spec: spec, part: part, known: known, bootID: boot)
  }

  private func request(_ step: DownloadStep) -> FetchRequest? {
    if case .request(let request) = step { return request }
    return nil
  }

  private func header(_ step: DownloadStep, _ name: String) -> String? {
    request(step)?.headers.first { $0.name == name }?.value
  }

  private func failures(_ step: DownloadStep) -> [DownloadFailure.Cause] {
    if case .fail(let defeat, _) = step { return defeat.failures.map(\.failure.cause) }
    return []
  }

  private func head(_ status: Int, _ change: (inout ResponseHead) -> Void = { _ in })
    -> ResponseHead
  {
    var head = ResponseHead(status: status)
    change(&head)
    return head
  }

  /// Skips the body of an answer and gives what follows.
  private func skipped(_ machine: inout DownloadMachine, _ head: ResponseHead) -> DownloadStep? {
    guard machine.received(head, nowSeconds: 0) == .skip else { return nil }
    return machine.bodyEnded(.complete, partBytes: 0)
  }

  // MARK: - What is asked

  @Test func `a new file is asked for whole`() {
    let machine = machine(spec())
    let step = machine.start()
    #expect(request(step)?.rangeFrom == nil)
    #expect(header(step, "Range") == nil)
  }

  @Test func `a part is continued under its strongest validator`() {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    for (record, condition) in [
      (record(date: date), "\"v1\""), (record(etag: "W/\"v1\"", date: date), date),
    ] {
      let machine = machine(spec(), PartOnDisk(bytes: 40, record: record))
      let step = machine.start()
      #expect(header(step, "Range") == "bytes=40-")
      #expect(header(step, "If-Range") == condition)
    }
  }

  @Test func `without a validator only a hash allows to continue`() {
    let weak = record(etag: "W/\"v1\"")
    let without = machine(spec(), PartOnDisk(bytes: 40, record: weak))
    #expect(header(without.start(), "Range") == nil)
    let with = machine(spec(hash: true), PartOnDisk(bytes: 40, record: weak))
    let step = with.start()
    #expect(header(step, "Range") == "bytes=40-")
    #expect(header(step, "If-Range") == nil)
    let unknown = machine(spec(hash: true), PartOnDisk(bytes: 40))
    #expect(header(unknown.start(), "Range") == "bytes=40-")
  }

  @Test func `a part from before a restart of the machine needs a hash`() {
    let old = record(boot: "boot-0")
    let without = machine(spec(), PartOnDisk(bytes: 40, record: old))
    #expect(header(without.start(), "Range") == nil)
    let with = machine(spec(hash: true), PartOnDisk(bytes: 40, record: old))
    #expect(header(with.start(), "Range") == "bytes=40-")
  }

  @Test func `a date that two versions may bear is no validator`() {
    for hash in [true, false] {
      var fresh = record(etag: "", date: "Sun, 06 Nov 1994 08:49:37 GMT")
      fresh.validator.hasFreshDate = true
      let machine = machine(spec(hash: hash), PartOnDisk(bytes: 40, record: fresh))
      let step = machine.start()
      #expect(header(step, "Range") == (hash ? "bytes=40-" : nil))
      #expect(header(step, "If-Range") == nil)
    }
    let first = machine(spec())
    _ = first.start()
    let seconds = HTTPDate.seconds("Sun, 06 Nov 1994 08:49:37 GMT") ?? 0
    _ = first.received(
      head(200) { $0.lastModified = "Sun, 06 Nov 1994 08:49:37 GMT" }, nowSeconds: seconds)
    #expect(first.record?.validator.hasFreshDate == true)
  }

  @Test func `a whole part with a hash needs no request`() {
    let machine = machine(spec(hash: true), PartOnDisk(bytes: 100, record: record()))
    #expect(machine.start() == .verify)
  }

  @Test func `a part that is too long is not continued`() {
    let machine = machine(spec(hash: true), PartOnDisk(bytes: 101, record: record()))
    #expect(header(machine.start(), "Range") == nil)
  }

  @Test func `what stands there is asked about with what is known of it`() {
    var machine = machine(
      spec(), known: Validator(etag: "\"v1\"", lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"))
    let step = machine.start()
    #expect(header(step, "If-None-Match") == "\"v1\"")
    #expect(header(step, "If-Modified-Since") == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(skipped(&machine, head(304)) == .keepTarget)
  }

  @Test func `a header that would decide what comes is refused`() {
    for name in ["Range", "if-none-match", "Content-Length", "a b", ""] {
      var spec = spec(mirrors: ["http://m/x"])
      spec.headers = [DownloadHeader(name: name, value: "1")]
      let machine = machine(spec)
      #expect(failures(machine.start()) == [.request])
    }
    var spec = spec()
    spec.headers = [DownloadHeader(name: "X", value: "a\r\nHost: other")]
    let machine = machine(spec)
    #expect(failures(machine.start()) == [.request])
  }

  // MARK: - Redirects

  @Test func `credentials do not follow to another host`() {
    var spec = spec(mirrors: ["http://m/x"])
    spec.headers = [
      DownloadHeader(name: "Authorization", value: "Bearer x"),
      DownloadHeader(name: "X-Key", value: "y"), DownloadHeader(name: "Accept", value: "*/*"),
    ]
    var machine = machine(spec)
    #expect(request(machine.start())?.headers.count == 3)
    let away = skipped(&machine, head(302) { $0.location = "http://other/y" })
    #expect(away.flatMap { request($0) }?.headers.map(\.name) == ["Accept"])
    let back = skipped(&machine, head(302) { $0.location = "http://h/z" })
    #expect(back.flatMap { request($0) }?.headers.count == 3)
    let mirror = skipped(&machine, head(404))
    #expect(mirror.flatMap { request($0) }?.address.host == "m")
    #expect(mirror.flatMap { request($0) }?.headers.map(\.name) == ["Accept"])
  }

  @Test func `redirects end, and do not lead to files or out of TLS`() {
    var loop = machine(spec())
    var step: DownloadStep? = loop.start()
    for _ in 0..<DownloadMachine.maxRedirects {
      step = skipped(&loop, head(302) { $0.location = "/x" })
      #expect(step.flatMap { request($0) } != nil)
    }
    step = skipped(&loop, head(302) { $0.location = "/x" })
    #expect(step.map { failures($0) } == [.tooManyRedirects])

    for (location, cause) in [
      ("file:///etc/passwd", DownloadFailure.Cause.forbiddenRedirect),
      ("http://h/x", .forbiddenRedirect), ("ftp://h/x", .brokenRedirect),
    ] {
      var machine = machine(DownloadSpec(sources: ["https://h/x"], target: "/t"))
      _ = machine.start()
      let step = skipped(&machine, head(301) { $0.location = location })
      #expect(step.map { failures($0) } == [cause])
    }
  }

  // MARK: - Parts

  @Test func `an answer of another version is never put behind the part`() {
    let bad: [(inout ResponseHead) -> Void] = [
      { $0.etag = "\"v2\"" },
      { $0.contentRange = .part(first: 40, last: 99, total: 101) },
      { $0.contentRange = .part(first: 41, last: 99, total: 100) },
      { $0.contentRange = .part(first: 0, last: 39, total: 100) },
      { $0.contentRange = nil },
      { $0.contentLength = 7 },
      { $0.isMultipart = true },
      { $0.encoding = "gzip" },
    ]
    for change in bad {
      for hash in [true, false] {
        var machine = machine(spec(hash: hash), PartOnDisk(bytes: 40, record: record()))
        #expect(header(machine.start(), "Range") == "bytes=40-")
        let answer = head(206) {
          $0.etag = "\"v1\""
          $0.contentRange = .part(first: 40, last: 99, total: 100)
          change(&$0)
        }
        let next = skipped(&machine, answer)
        #expect(next.flatMap { request($0) }?.rangeFrom == nil)
        #expect(next.flatMap { request($0) } != nil)
      }
    }
  }

  @Test func `an answer that does not say its version needs a hash`() {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    for (hash, answered, isWritten) in [(false, "", false), (false, date, true), (true, "", true)] {
      let machine = machine(spec(hash: hash), PartOnDisk(bytes: 40, record: record(date: date)))
      _ = machine.start()
      let decision = machine.received(
        head(206) {
          $0.lastModified = answered
          $0.contentRange = .part(first: 40, last: 99, total: 100)
        }, nowSeconds: 0)
      #expect((decision != .skip) == isWritten)
    }
  }

  @Test func `the rest that calls itself the whole is not taken for it`() {
    let rests: [(inout ResponseHead) -> Void] = [
      {
        $0.etag = "\"v1\""
        $0.contentLength = 60
      },
      { $0.contentRange = .part(first: 40, last: 99, total: 100) },
    ]
    for rest in rests {
      var machine = machine(spec(), PartOnDisk(bytes: 40, record: record()))
      _ = machine.start()
      let step = skipped(&machine, head(200, rest))
      #expect(step.flatMap { request($0) } != nil)
      #expect(step.flatMap { request($0) }?.rangeFrom == nil)
      #expect(machine.received(head(200, rest), nowSeconds: 0) != .skip)
    }
    let changed = machine(spec(), PartOnDisk(bytes: 40, record: record()))
    _ = changed.start()
    let other = head(200) {
      $0.etag = "\"v2\""
      $0.contentLength = 60
    }
    #expect(changed.received(other, nowSeconds: 0) != .skip)
  }

  @Test func `a part is not the whole because the server says so now`() {
    for (total, isWhole) in [(nil, true), (40, true), (100, false)] as [(Int64?, Bool)] {
      var machine = machine(spec(), PartOnDisk(bytes: 40, record: record(total: total)))
      _ = machine.start()
      let step = skipped(&machine, head(416) { $0.contentRange = .unsatisfied(total: 40) })
      #expect((step == .verify) == isWhole)
    }
  }

  @Test func `a success that nobody knows is a plain one`() {
    for status in [200, 203, 209, 250, 299] {
      let machine = machine(spec())
      _ = machine.start()
      #expect(machine.received(head(status), nowSeconds: 0) != .skip)
    }
  }

  @Test func `a part that nobody asked for or named is the whole where the hash says so`() {
    for hash in [true, false] {
      let machine = machine(spec(hash: hash))
      _ = machine.start()
      #expect((machine.received(head(206), nowSeconds: 0) != .skip) == hash)
      #expect(machine.received(head(206) { $0.hasBrokenRange = true }, nowSeconds: 0) == .skip)
    }
  }

  @Test func `a server that cannot serve parts is asked for the whole`() {
    for status in [400, 403, 412, 501] {
      var machine = machine(spec(), PartOnDisk(bytes: 40, record: record()))
      _ = machine.start()
      let step = skipped(&machine, head(status))
      #expect(step.flatMap { request($0) } != nil)
      #expect(step.flatMap { request($0) }?.rangeFrom == nil)
    }
    var part = PartOnDisk(bytes: 40, record: record())
    for expected in [true, true, false] {
      var machine = machine(spec(), part)
      _ = machine.start()
      let step = skipped(&machine, head(500))
      #expect(step.map { failures($0) } == (expected ? [.status(500)] : []))
      part.record = machine.record
    }
    let machine = machine(spec(), part)
    _ = machine.start()
    _ = machine.received(
      head(206) {
        $0.etag = "\"v1\""
        $0.contentRange = .part(first: 40, last: 99, total: 100)
      }, nowSeconds: 0)
    #expect(machine.record?.refusals == 0)
    #expect(
      failures(machine.bodyEnded(.broken(DownloadFailure(.stalled, "")), partBytes: 60)) == [
        .stalled
      ])
  }

  @Test func `an answer that fits is put behind the part`() {
    let machine = machine(spec(), PartOnDisk(bytes: 40, record: record()))
    _ = machine.start()
    let decision = machine.received(
      head(206) {
        $0.etag = "\"v1\""
        $0.contentRange = .part(first: 30, last: 99, total: 100)
      }, nowSeconds: 0)
    guard case .write(let placement) = decision else {
      Issue.record("it skipped")
      return
    }
    #expect(!placement.startsOver)
    #expect(placement.offset == 30)
    #expect(placement.end == 100)
    #expect(machine.bodyEnded(.complete, partBytes: 100) == .verify)
    #expect(machine.gainedBytes == 60)
  }

  @Test func `a spliced file that is wrong is fetched anew, a whole one that is wrong is not`() {
    let wrong = DownloadFailure(.wrongHash, "wrong")
    let machine = machine(spec(hash: true), PartOnDisk(bytes: 100, record: record()))
    _ = machine.start()
    let anew = machine.mismatched(wrong)
    #expect(request(anew)?.dropsPart == true)
    #expect(request(anew)?.rangeFrom == nil)
    _ = machine.received(head(200) { $0.contentLength = 100 }, nowSeconds: 0)
    #expect(machine.bodyEnded(.complete, partBytes: 100) == .verify)
    let step = machine.mismatched(wrong)
    #expect(failures(step) == [.wrongHash])
    guard case .fail(_, let removesPart) = step else { return }
    #expect(removesPart)
  }

  // MARK: - Mirrors

  @Test func `a mirror continues the part of another only under a hash`() {
    for hash in [true, false] {
      var machine = machine(
        spec(hash: hash, mirrors: ["http://m/x"]), PartOnDisk(bytes: 40, record: record()))
      _ = machine.start()
      let step = skipped(&machine, head(404))
      #expect(step.flatMap { request($0) }?.rangeFrom == (hash ? 40 : nil))
      #expect(step.flatMap { header($0, "If-Range") } == nil)
    }
  }

  @Test func `what only its source can continue is tried there again first`() {
    for hash in [true, false] {
      let machine = machine(spec(hash: hash, mirrors: ["http://m/x"]))
      _ = machine.start()
      _ = machine.received(
        head(200) {
          $0.contentLength = 100
          $0.etag = "\"v1\""
        }, nowSeconds: 0)
      let broken = DownloadFailure(.connectionLost, "gone")
      let step = machine.bodyEnded(.broken(broken), partBytes: 50)
      if hash {
        #expect(request(step)?.rangeFrom == 50)
      } else {
        #expect(failures(step) == [.connectionLost])
      }
    }
  }

  @Test func `a full disk is no reason to ask a mirror`() {
    let machine = machine(spec(mirrors: ["http://m/x"]))
    _ = machine.start()
    #expect(failures(machine.fail(DownloadFailure(.local(28), "full"))) == [.local(28)])
  }

  // MARK: - Failures

  @Test func `network failures and some answers are worth another try, the rest is not`() {
    for status in [202, 408, 425, 429, 500, 502, 503, 504, 599, 0, 999] {
      #expect(DownloadFailure(.status(status), "").verdict == .again)
    }
    for status in [204, 301, 304, 400, 401, 403, 404, 410, 416] {
      #expect(DownloadFailure(.status(status), "").verdict == .final)
    }
    for cause: DownloadFailure.Cause in [
      .resolve, .connect, .tls, .connectionLost, .stalled, .truncated, .nonsense, .busy,
    ] { #expect(DownloadFailure(cause, "").verdict == .again) }
    for cause: DownloadFailure.Cause in [
      .certificate, .tooManyRedirects, .forbiddenRedirect, .wrongSize, .wrongHash, .request,
      .local(28),
    ] { #expect(DownloadFailure(cause, "").verdict == .final) }
  }

  @Test func `one source that may come back makes the try worth repeating`() {
    let gone = SourceFailure(url: "a", failure: DownloadFailure(.status(404), "gone"))
    let busy = SourceFailure(
      url: "b", failure: DownloadFailure(.status(503), "busy", retryAfterMilliseconds: 9000))
    #expect(DownloadDefeat(failures: [gone]).verdict == .final)
    let defeat = DownloadDefeat(failures: [gone, busy])
    #expect(defeat.verdict == .again)
    #expect(defeat.retryAfterMilliseconds == 9000)
    #expect(defeat.text == "a: gone; b: busy")
  }

  @Test func `a size that the server contradicts fails before a byte is fetched`() {
    var spec = spec()
    spec.sizeBytes = 99
    var machine = machine(spec)
    _ = machine.start()
    #expect(
      skipped(&machine, head(200) { $0.contentLength = 100 }).map { failures($0) } == [.wrongSize])
  }
}
