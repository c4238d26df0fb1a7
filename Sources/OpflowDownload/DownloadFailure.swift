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
  /// As the server asks.
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

  /// No other source can help.
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

/// Of an attempt at all its sources.
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
