/// Why a download, or one source of it, failed.
package struct DownloadFailure: Error, Equatable, Sendable {
  package enum Cause: Equatable, Sendable {
    case resolve, connect, tls, certificate, connectionLost, stalled, truncated
    /// The server speaks no HTTP, or contradicts itself.
    case nonsense
    case status(Int)
    case tooManyRedirects, forbiddenRedirect, brokenRedirect
    case wrongSize, wrongHash
    case encoding
    /// The manifest asks for what cannot be done: its URL, a header.
    case request
    /// A system call failed here: this errno.
    case local(Int32)
    /// Another process has the part.
    case busy
    /// Another process has put something else in place of the part.
    case replaced
  }

  package enum Verdict: Equatable, Sendable {
    /// Another try may go better.
    case again
    /// It will be the same next time.
    case final
  }

  package var cause: Cause
  /// What happened, for people; without the URL.
  package var text: String
  /// How long the server wants to be left alone; nil where it does not say.
  package var retryAfterMilliseconds: Int64?

  package init(_ cause: Cause, _ text: String, retryAfterMilliseconds: Int64? = nil) {
    self.cause = cause
    self.text = text
    self.retryAfterMilliseconds = retryAfterMilliseconds
  }

  /// The one table of which failures are worth another try.
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
    // Accepted: the answer is being prepared.
    case 202: .again
    case 408, 425, 429: .again
    case 500..<600: .again
    // A status that does not exist is nonsense.
    case ..<200, 600...: .again
    default: .final
    }
  }

  /// Whether no other source can help.
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

/// A failure and the source that it befell.
package struct SourceFailure: Equatable, Sendable {
  package var url: String
  package var failure: DownloadFailure
  package init(url: String, failure: DownloadFailure) {
    self.url = url
    self.failure = failure
  }
}

/// How a whole try failed: at each source in turn.
package struct DownloadDefeat: Equatable, Sendable {
  package var failures: [SourceFailure]
  package init(failures: [SourceFailure]) { self.failures = failures }

  /// Another try is worth it when it is at any source.
  package var verdict: DownloadFailure.Verdict {
    failures.contains { $0.failure.verdict == .again } ? .again : .final
  }

  /// The shortest wait that a server asked for, of those that are worth another try.
  package var retryAfterMilliseconds: Int64? {
    failures.filter { $0.failure.verdict == .again }.compactMap(\.failure.retryAfterMilliseconds)
      .min()
  }

  /// 0 when no system call failed.
  package var errorNumber: Int32 {
    for failure in failures { if case .local(let number) = failure.failure.cause { return number } }
    return 0
  }

  /// One clause for each source.
  package var text: String {
    failures.map { $0.url.isEmpty ? $0.failure.text : "\($0.url): \($0.failure.text)" }
      .joined(separator: "; ")
  }
}
