import OpflowDownload
import Testing

/// What libcurl's codes are worth.
struct TransferCodeTests {
  @Test(arguments: Array(Int32(1)...101))
  func `every code has words and a verdict`(_ code: Int32) {
    let failure = TransferCode.failure(code, text: "words of libcurl")
    #expect(!failure.text.isEmpty)
    #expect(!failure.isLocal)
    let isFinal: Set<Int32> = [
      3, 4, 9, 36, 37, 48, 49, 51, 53, 54, 58, 60, 66, 77, 82, 83, 90, 91, 98,
    ]
    #expect(failure.verdict == (isFinal.contains(code) ? .final : .again))
  }

  @Test func `missing certificates are final, and every path is named`() {
    #expect(TransferCode.isUnreadableBundle(77))
    #expect(TrustedCertificates.missing.verdict == .final)
    for path in TrustedCertificates.bundles {
      #expect(TrustedCertificates.missing.text.contains(path))
    }
  }

  @Test(
    arguments: [
      (43, "A libcurl function was given a bad argument", "a header line is malformed"),
      (
        43, "Failed reading the chunked-encoded stream", "Failed reading the chunked-encoded stream"
      ),
      (8, "Nul byte in header", "Nul byte in header"),
      (1, "Received HTTP/0.9 when not allowed", "it is not HTTP"),
      (1, "Unsupported HTTP version in response", "Unsupported HTTP version in response"),
      (27, "Out of memory", "a header line is too long, or libcurl is out of memory"),
      (56, "Too large response headers: 307205 > 307200", "its headers are too long"),
      (100, "A value or data field grew larger than allowed", "a header line is too long"),
    ] as [(Int32, String, String)])
  func `an answer that makes no sense is told as that, and asked for again`(
    _ code: Int32, _ text: String, _ detail: String
  ) {
    let failure = TransferCode.failure(code, text: text)
    #expect(failure.cause == .nonsense)
    #expect(failure.verdict == .again)
    #expect(failure.text == "invalid response: \(detail)")
  }

  @Test func `what libcurl refuses to send is final`() {
    for code: Int32 in [3, 43, 48, 49] {
      let failure = TransferCode.refusal(code, text: "words")
      #expect(failure.verdict == .final)
      #expect(failure.text == "cannot be requested: words")
    }
    #expect(TransferCode.refusal(27, text: "Out of memory").verdict == .again)
    let missing = "Protocol \"https\" not supported or disabled in libcurl"
    #expect(TransferCode.failure(1, text: missing).verdict == .final)
  }

  @Test(arguments: [
    "u:hush@h:9999999", "http://u:hush@h:9999999", "u:hu sh@h", "foo://u:hush@h",
    "http://u:hush@[::1", "http://u:hush@h/x", "u:hush'@h",
  ])
  func `a proxy's password is not told`(_ proxy: String) {
    for code: Int32 in [5, 7, 97] {
      let padding = String(repeating: "x", count: 240)
      for text in ["in '\(proxy)'", "in '\(padding)\(proxy)'"] {
        let whole = "Unsupported proxy syntax \(text)"
        let failure = TransferCode.failure(code, text: String(whole.prefix(255)))
        #expect(!failure.text.contains("hu"), "\(failure.text)")
      }
    }
  }
}
