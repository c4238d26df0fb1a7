internal import OpflowBase

/// Why a download, or one of its sources, failed.
package struct DownloadFailure: Error, Equatable, Sendable {
  package enum Cause: Equatable, Sendable {
    case resolve, connect, tls, certificate, connectionLost, stalled, truncated
    /// The response is not HTTP, or contradicts itself.
    case nonsense
    case status(Int)
    case tooManyRedirects, forbiddenRedirect, brokenRedirect
    case wrongSize, wrongHash
    case encoding
    /// The manifest's URL or headers are invalid.
    case request
    /// An errno.
    case local(Int32)
    /// Another process holds the part.
    case busy
    /// Another process replaced the part.
    case replaced
  }

  package enum Verdict: Equatable, Sendable {
    case again
    case final
  }

  package var cause: Cause
  /// Without the URL.
  package var text: String
  /// The wait that the server asks for.
  package var retryAfterMilliseconds: Int64?

  package init(_ cause: Cause, _ text: String, retryAfterMilliseconds: Int64? = nil) {
    self.cause = cause
    self.text = text
    self.retryAfterMilliseconds = retryAfterMilliseconds
  }

  package var verdict: Verdict {
    switch cause {
    case .resolve, .connect, .tls, .connectionLost, .stalled, .truncated, .nonsense, .busy: .again
    case .certificate: .final
    case .status(let status): Self.verdict(ofStatus: status)
    case .tooManyRedirects, .forbiddenRedirect, .brokenRedirect: .final
    case .wrongSize, .wrongHash, .encoding: .final
    case .request, .local, .replaced: .final
    }
  }

  private static func verdict(ofStatus status: Int) -> Verdict {
    switch status {
    // Accepted: the file is being prepared.
    case 202: .again
    case 408, 425, 429: .again
    case 500..<600: .again
    case ..<200, 600...: .again
    default: .final
    }
  }

  /// True if no other source can help.
  package var isLocal: Bool {
    switch cause {
    case .local, .busy, .replaced: true
    case .resolve, .connect, .tls, .certificate, .connectionLost, .stalled, .truncated, .nonsense,
      .status, .tooManyRedirects, .forbiddenRedirect, .brokenRedirect, .wrongSize, .wrongHash,
      .encoding, .request:
      false
    }
  }
}

package struct SourceFailure: Equatable, Sendable {
  package var url: String
  package var failure: DownloadFailure
  package init(url: String, failure: DownloadFailure) {
    self.url = url
    self.failure = failure
  }
}

/// The failure of an attempt at all its sources.
package struct DownloadDefeat: Equatable, Sendable {
  package var failures: [SourceFailure]
  package init(failures: [SourceFailure]) { self.failures = failures }

  package var verdict: DownloadFailure.Verdict {
    failures.contains { $0.failure.verdict == .again } ? .again : .final
  }

  /// The shortest wait that a source worth another attempt asks for.
  package var retryAfterMilliseconds: Int64? {
    failures.filter { $0.failure.verdict == .again }.compactMap(\.failure.retryAfterMilliseconds)
      .min()
  }

  /// 0 if no system call failed.
  package var errorNumber: Int32 {
    for failure in failures { if case .local(let number) = failure.failure.cause { return number } }
    return 0
  }

  /// One clause per source.
  package var text: String {
    failures.map { $0.url.isEmpty ? $0.failure.text : "\($0.url): \($0.failure.text)" }
      .joined(separator: "; ")
  }
}

/// Meanings of libcurl's codes (CURLcode, libcurl-errors(3)).
package enum TransferCode {
  /// For a transfer that libcurl refused to begin.
  package static func refusal(_ code: Int32, text: String) -> DownloadFailure {
    switch code {
    // Out of memory or handles, which is not the request's fault.
    case 2, 27: DownloadFailure(.connectionLost, "libcurl cannot start: \(shown(text))")
    default: DownloadFailure(.request, "cannot be requested: \(shown(text))")
    }
  }

  package static func isUnreadableBundle(_ code: Int32) -> Bool { code == 77 }

  /// For a transfer that broke. `reason` is the system's, if known.
  package static func failure(
    _ code: Int32, text: String, reason: String = ""
  ) -> DownloadFailure {
    let text = shown(text)
    switch code {
    // Invalid, or not supported by this libcurl.
    case 3, 4, 48, 49: return DownloadFailure(.request, "cannot be requested: \(text)")
    case 1 where text.contains("disabled in libcurl"):
      return DownloadFailure(.request, "cannot be requested: \(text)")
    case 9, 36, 37: return DownloadFailure(.request, "cannot be read: \(text)")
    case 5, 6: return DownloadFailure(.resolve, unresolved(text))
    case 7, 45, 89, 96, 97: return DownloadFailure(.connect, unconnected(text, reason))
    case 28: return DownloadFailure(.connect, late(text))
    case 35, 59, 101: return DownloadFailure(.tls, "cannot set up TLS: \(text)")
    // The server's certificate, or the local ones to verify it.
    case 51, 53, 54, 58, 60, 66, 77, 82, 83, 90, 91, 98:
      return DownloadFailure(.certificate, "cannot verify the server's certificate: \(text)")
    case 18: return DownloadFailure(.truncated, "ended too early: \(text)")
    case 52:
      return DownloadFailure(
        .connectionLost, "the server closed the connection without a response")
    case 56 where text.hasPrefix("Too large response headers"):
      return nonsense("its headers are too long")
    case 56 where text.contains("chunked-encoding"): return nonsense(text)
    case 16, 55, 56, 80, 92, 95:
      return DownloadFailure(.connectionLost, "the connection was lost: \(text)")
    case 1 where text.contains("HTTP/0.9"): return nonsense("it is not HTTP")
    case 1, 8, 61: return nonsense(text)
    // Before libcurl 8.3 also an endless line.
    case 27: return nonsense("a header line is too long, or libcurl is out of memory")
    case 100: return nonsense("a header line is too long")
    // A line that starts with a space but continues no field, or a field without a name.
    case 43 where text.contains("bad argument"): return nonsense("a header line is malformed")
    case 43: return nonsense(text)
    default: return DownloadFailure(.connectionLost, "failed: \(text) (libcurl error \(code))")
    }
  }

  /// `Could not resolve host: NAME`
  private static func unresolved(_ text: String) -> String {
    let start = "Could not resolve "
    return text.hasPrefix(start)
      ? "cannot resolve \(text.dropFirst(start.count))" : "cannot resolve the name: \(text)"
  }

  private static let connecting = "Failed to connect to "

  /// `Failed to connect to HOST port PORT after N ms: Couldn't connect to server`
  private static func unconnected(_ text: String, _ reason: String) -> String {
    guard text.hasPrefix(connecting) else { return "cannot connect: \(text)" }
    let place = text.dropFirst(connecting.count)
    guard !reason.isEmpty, let end = place.firstRange(of: " after ") ?? place.firstRange(of: ": ")
    else { return "cannot connect to \(place)" }
    return "cannot connect to \(place[..<end.lowerBound]): \(reason)"
  }

  private static func late(_ text: String) -> String {
    if text.hasPrefix(connecting) { return unconnected(text, "") }
    return text.contains("timed out")
      ? text.prefix(1).lowercased() + text.dropFirst() : "timed out: \(text)"
  }

  private static func nonsense(_ detail: String) -> DownloadFailure {
    DownloadFailure(.nonsense, "invalid response: \(detail)")
  }

  /// CURL_ERROR_SIZE.
  private static let longestText = 255

  /// Hides credentials. libcurl quotes an unusable proxy as given, perhaps cut.
  private static func shown(_ text: String) -> String {
    guard text.contains("proxy"), let start = text.firstIndex(of: "'") else {
      return Credentials.hidden(in: text)
    }
    let quoted = text[text.index(after: start)...]
    let isCut = text.utf8.count >= longestText || quoted.last != "'"
    let proxy = isCut ? Credentials.mark : Credentials.hidden(inAddress: String(quoted.dropLast()))
    return "\(text[..<start])'\(proxy)'"
  }
}
