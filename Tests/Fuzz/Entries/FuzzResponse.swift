import OpflowBase
import OpflowDownload
import OpflowWire

/// Checks response heads of servers, and addresses and dates in them.
enum FuzzResponse {
  static func check(_ bytes: UnsafeRawBufferPointer) throws(FuzzFinding) {
    var reader = ResponseHeadReader()
    for line in bytes.split(separator: Field.lineFeed, omittingEmptySubsequences: false) {
      guard let head = reader.take(UnsafeRawBufferPointer(rebasing: line)) else { continue }
      try check(head)
    }
    let text = String(decoding: bytes.prefix { $0 != Field.lineFeed }, as: UTF8.self)
    try checkAddress(text)
    if let seconds = HTTPDate.seconds(text) {
      try expect(abs(seconds) < 1 << 40, "a date \(seconds) seconds from 1970")
    }
  }

  private static func check(_ head: ResponseHead) throws(FuzzFinding) {
    if let length = head.contentLength { try expect(length >= 0, "a length of \(length)") }
    switch head.contentRange {
    case .part(let first, let last, let total)?:
      try expect(first >= 0 && first <= last && last < total ?? .max, "a range that is none")
    case .unsatisfied(let total)?: try expect(total >= 0, "a total of \(total)")
    case nil: break
    }
    if let wait = RetryAfter.milliseconds(head.retryAfter, nowSeconds: 1_700_000_000) {
      try expect((0...RetryAfter.longestMilliseconds).contains(wait), "a wait of \(wait) ms")
    }
    if let base = try? WebAddress("https://example.org/a/b?c"),
      let next = try? base.resolving(head.location)
    {
      try checkStable(next)
    }
    try expect(!head.validator.contradicts(head.validator), "a version is not itself")
  }

  private static func checkAddress(_ text: String) throws(FuzzFinding) {
    guard let address = try? WebAddress(text) else { return }
    try checkStable(address)
    try expect(address.isSameOrigin(as: address), "an address has another origin than itself")
    _ = address.lastPathPart
    _ = address.filePath
  }

  /// Checks that the sent address is the checked one, and that it cannot end a line.
  private static func checkStable(_ address: WebAddress) throws(FuzzFinding) {
    let text = address.text
    // Host names may have any characters.
    try expect(
      text.utf8.allSatisfy { $0 > 32 && $0 != 127 }, "a character that no URL has: \(text)")
    try expect(
      address.pathAndQuery.utf8.allSatisfy { $0 < 127 }, "a path that is not encoded: \(text)")
    // Without user name and password, which are sent separately.
    guard let again = try? WebAddress(text) else {
      throw FuzzFinding("read again, \(text) is no address")
    }
    try expect(
      again.text == text && again.isSameOrigin(as: address),
      "read again, \(text) is \(again.text)")
  }
}
