import OpflowDownload
import OpflowWire
import Testing

@Suite("Heads of answers")
struct DownloadHeadTests {
  private func read(_ text: String) -> ResponseHead? {
    var reader = ResponseHeadReader()
    var found: ResponseHead?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let bytes = Array((line + "\r\n").utf8)
      if let head = bytes.withUnsafeBytes({ reader.take($0) }) { found = head }
    }
    return found
  }

  @Test func `are read whatever the names' case`() throws {
    let head = try #require(
      read(
        """
        HTTP/1.1 206 Partial Content
        cOnTeNt-LENGTH:  7 \n\
        Content-Range: bytes 3-9/10
        ETag: W/"x"

        """
      ))
    #expect(head.status == 206)
    #expect(head.phrase == "Partial Content")
    #expect(head.contentLength == 7)
    #expect(head.contentRange == .part(first: 3, last: 9, total: 10))
    #expect(head.etag == "W/\"x\"")
    #expect(!head.isClosedByEnd)
  }

  @Test func `come after interim answers, and trailers are none`() throws {
    let head = try #require(
      read("HTTP/1.1 103 Early\nETag: \"no\"\n\nHTTP/2 200\nETag: \"yes\"\n\nETag: \"late\"\n"))
    #expect(head.etag == "\"yes\"")
    #expect(head.version == 20)
    #expect(!head.isClosedByEnd)
  }

  @Test func `that contradict themselves about the length are told`() {
    #expect(
      read("HTTP/1.1 200 OK\nContent-Length: 5\nContent-Length: 6\n")?.hasBrokenLength == true)
    #expect(read("HTTP/1.1 200 OK\nContent-Length: 5, 5\n")?.contentLength == 5)
    #expect(read("HTTP/1.1 200 OK\nContent-Length: x\n")?.hasBrokenLength == true)
    #expect(read("HTTP/1.1 200 OK\nContent-Length: -1\n")?.hasBrokenLength == true)
  }

  @Test func `with chunks have no length`() {
    let head = read("HTTP/1.1 200 OK\nContent-Length: 5\nTransfer-Encoding: Chunked\n")
    #expect(head?.contentLength == nil)
    #expect(head?.isClosedByEnd == false)
    #expect(read("HTTP/1.0 200 OK\n")?.isClosedByEnd == true)
  }

  @Test func `whose body is compressed on its way have no length either`() {
    let head = read("HTTP/1.1 200 OK\nContent-Length: 5\nTransfer-Encoding: gzip\n")
    #expect(head?.contentLength == nil)
    #expect(head?.isClosedByEnd == true)
    let plain = read("HTTP/1.1 200 OK\nContent-Length: 5\nTransfer-Encoding: identity\n")
    #expect(plain?.contentLength == 5)
  }

  @Test func `tell whether the connection serves another request`() {
    #expect(read("HTTP/1.1 200 OK\n")?.isLast == false)
    #expect(read("HTTP/1.1 302 Found\nconnection: Upgrade, Close\n")?.isLast == true)
    #expect(read("HTTP/1.0 200 OK\n")?.isLast == true)
    #expect(read("HTTP/1.0 200 OK\nConnection: Keep-Alive\n")?.isLast == false)
    #expect(read("HTTP/1.1 103 Early\nConnection: close\n\nHTTP/2 200\n")?.isLast == false)
  }

  @Test func `name the encodings that are some`() {
    for (fields, encoding) in [
      ("Content-Encoding: identity", ""), ("Content-Encoding: identity, GZip", "gzip"),
      ("Content-Encoding: deflate\nContent-Encoding: gzip", "deflate, gzip"),
      ("Content-Encoding: gzip\nContent-Encoding: none", "gzip"),
    ] {
      #expect(read("HTTP/1.1 200 OK\n\(fields)\n")?.encoding == encoding)
    }
  }

  @Test func `say when the file may change again under the same date`() {
    let modified = "HTTP/1.1 200 OK\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\n"
    let second = HTTPDate.seconds("Sun, 06 Nov 1994 08:49:37 GMT") ?? 0
    // The server's clock counts, and where it has none, this one.
    let later = read(modified + "Date: Sun, 06 Nov 1994 08:49:38 GMT\n")
    #expect(later?.hasFreshDate(nowSeconds: 0) == false)
    let same = read(modified + "Date: Sun, 06 Nov 1994 08:49:37 GMT\n")
    #expect(same?.hasFreshDate(nowSeconds: second + 100) == true)
    #expect(read(modified)?.hasFreshDate(nowSeconds: second) == true)
    #expect(read(modified)?.hasFreshDate(nowSeconds: second + 1) == false)
    #expect(
      read("HTTP/1.1 200 OK\nLast-Modified: lately\n")?.hasFreshDate(nowSeconds: 9) == true)
  }

  @Test(arguments: [
    ("bytes 0-0/1", ContentRange.part(first: 0, last: 0, total: 1)),
    ("bytes 5-9/*", .part(first: 5, last: 9, total: nil)),
    ("bytes=5-9/10", .part(first: 5, last: 9, total: 10)),
    ("bytes */99", .unsatisfied(total: 99)),
    ("bytes 9-5/10", nil), ("bytes 5-10/10", nil), ("bytes banana", nil), ("lines 1-2/3", nil),
    ("bytes */*", nil), ("bytes 1-2", nil), ("bytes -1-2/3", nil), ("", nil),
    ("bytes 1-9223372036854775807/*", nil), ("bytes 1-2/x", nil),
  ])
  func `name the part that they bring`(_ field: String, _ range: ContentRange?) {
    #expect(ContentRange(field) == range)
  }

  @Test func `bring validators, of which the strongest goes into If-Range`() {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    #expect(Validator(etag: "\"a\"", lastModified: date).forRange == "\"a\"")
    #expect(Validator(etag: "W/\"a\"", lastModified: date).forRange == date)
    #expect(Validator(etag: "W/\"a\"").forRange == nil)
    var fresh = Validator(lastModified: date)
    fresh.hasFreshDate = true
    #expect(fresh.forRange == nil)
    #expect(fresh.forLater.isEmpty)
    #expect(Validator(lastModified: date).forLater.lastModified == date)
    fresh.etag = "\"a\""
    #expect(fresh.forRange == "\"a\"")
    #expect(Validator(etag: "\"a\"").contradicts(Validator(etag: "\"b\"")))
    #expect(Validator(etag: "W/\"a\"").contradicts(Validator(etag: "\"b\"")))
    #expect(!Validator(etag: "W/\"a\"").contradicts(Validator(etag: "\"a\"")))
    #expect(!Validator(etag: "\"a\"").contradicts(Validator(lastModified: date)))
    #expect(Validator(lastModified: date).contradicts(Validator(lastModified: "x")))
  }
}

@Suite("The record of a part")
struct PartRecordTests {
  private var record: PartRecord {
    var record = PartRecord()
    record.source = "http://h/a\tb"
    record.url = "https://cdn/ü"
    record.validator = Validator(etag: "\"x\\y\"", lastModified: "Sun, 06 Nov 1994 08:49:37 GMT")
    record.totalBytes = 1 << 40
    record.encoding = "gzip"
    record.validator.hasFreshDate = true
    record.refusals = 2
    record.bootID = "boot"
    return record
  }

  private func read(_ bytes: [UInt8]) -> PartRecord? { bytes.withUnsafeBytes { PartRecord($0) } }

  @Test func `is read as it was written`() {
    #expect(read(record.encoded()) == record)
    #expect(read(PartRecord().encoded()) == PartRecord())
  }

  @Test func `is none when it was cut anywhere`() {
    let bytes = record.encoded()
    for length in 0..<bytes.count { #expect(read(Array(bytes[..<length])) == nil) }
  }

  @Test func `is none when a bit was flipped anywhere`() {
    let bytes = record.encoded()
    for index in bytes.indices {
      for bit in 0..<8 {
        var damaged = bytes
        damaged[index] ^= 1 << bit
        #expect(read(damaged) == nil)
      }
    }
  }
}
