import Testing

@testable import OpflowBase
@testable import OpflowPlan
@testable import OpflowWire

/// A secret on its way to a worker.
struct SecretPartTests {
  private func part(_ line: String) -> SecretPart? {
    Array(line.utf8).withUnsafeBytes { SecretPart($0) }
  }

  private func lines(of secret: SecretValue) -> [[UInt8]] {
    SecretPart.parts(of: secret).map { part in
      var writer = FieldWriter()
      part.write(to: &writer)
      return writer.bytes
    }
  }

  @Test func `a short value is one line`() {
    let lines = lines(of: SecretValue(name: "TOKEN", bytes: Array("a\tb\n\\".utf8)))
    #expect(
      lines.map { String(decoding: $0, as: UTF8.self) } == ["secret\tTOKEN\t1/1\ta\\tb\\n\\\\\n"])
  }

  @Test(arguments: [4, 219, 220, 221, 1000, SecretValue.longestBytes])
  func `a value comes in lines that every transport passes, and is put together again`(
    count: Int
  ) throws {
    // All escapes, and a name that is as long as one can be.
    let name = String(repeating: "\\", count: 255)
    let secret = SecretValue(name: name, bytes: [UInt8](repeating: 10, count: count))
    var collector = SecretCollector()
    for line in lines(of: secret) {
      #expect(line.count <= MessageCodec.longestLineBytes)
      let read = line.withUnsafeBytes {
        WorkerInput(UnsafeRawBufferPointer(rebasing: $0.dropLast()))
      }
      guard case .secret(let part)? = read else {
        Issue.record("no part: \(line)")
        return
      }
      let isTaken = collector.take(part)
      #expect(isTaken)
    }
    #expect(collector.secrets == [secret])
  }

  @Test(arguments: [
    "secret", "secret\tA\t1/1", "secret\tA\t1/1\t", "secret\t\t1/1\tx", "secret\tA\t0/1\tx",
    "secret\tA\t2/1\tx", "secret\tA\t1\tx", "secret\tA\t1/1\tx\ty", "secret\tA\t1/1\t\\0",
    "secret\tA\t1/1\t\\q", "secret\tA\t1/999\tx", "secret\tA\t-1/1\tx",
  ])
  func `what is no part of a secret is no message`(line: String) {
    #expect(part(line) == nil)
  }

  @Test func `parts that do not follow each other are refused`() throws {
    var collector = SecretCollector()
    let parts = [
      SecretPart(name: "A", number: 1, count: 2, bytes: [120]),
      SecretPart(name: "A", number: 1, count: 2, bytes: [120]),
      SecretPart(name: "B", number: 2, count: 2, bytes: [120]),
      SecretPart(name: "A", number: 2, count: 2, bytes: [121]),
      SecretPart(name: "A", number: 2, count: 2, bytes: [121]),
    ]
    let taken = parts.map { collector.take($0) }
    #expect(taken == [true, false, false, true, false])
    #expect(collector.secrets == [SecretValue(name: "A", bytes: [120, 121])])
  }

  @Test func `no report says a secret`() throws {
    let masker = try #require(Masker([SecretValue(name: "A", bytes: Array("hunter2".utf8))]))
    var fetch = FetchReport()
    fetch.url = "https://h/?t=hunter2"
    fetch.detail = "hunter2 was refused"
    fetch.validator.etag = "\"hunter2\""
    let reports: [WorkerReport] = [
      .progress(
        WorkerProgress(
          task: TaskID(0), doneBytes: 0, totalBytes: 0, bytesPerSecond: 0, text: "a hunter2")),
      .left(TaskID(0), attempt: 1, LeftBehind(count: 1, names: "hunter2")),
      .refused(TaskID(0), attempt: 1, errorNumber: 2, detail: "cannot execute \"hunter2\""),
      .fetched(TaskID(0), attempt: 1, FetchRecord(fetch)),
    ]
    for report in reports {
      var writer = FieldWriter()
      MessageCodec.encode(report.masked(by: masker), into: &writer)
      let line = String(decoding: writer.bytes, as: UTF8.self)
      #expect(!line.contains("hunter2"), "\(line)")
      #expect(line.contains("***"), "\(line)")
    }
  }

  @Test func `a header with a secret goes to its own host, whatever it is called`() {
    var header = DownloadHeader(name: "User-Agent", value: "x/\0TOKEN\0 y")
    header.fill([SecretValue(name: "TOKEN", bytes: Array("hunter2".utf8))])
    #expect(header.value == "x/hunter2 y")
    #expect(!header.isHarmless)
    header.value = "\0TOKEN\0"
    header.fill([])
    #expect(header.problem != nil)
  }
}
