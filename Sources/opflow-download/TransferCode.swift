internal import OpflowCore

/// What libcurl's codes (CURLcode, libcurl-errors(3)) mean for a download.
enum TransferCode {
  static func failure(_ code: Int32, text: String, errorNumber: Int32) -> DownloadFailure {
    switch code {
    // Written in a way that neither it nor we can mend.
    case 3, 43: DownloadFailure(.request, "cannot be asked for: \(text)")
    case 37: DownloadFailure(.request, "cannot be read: \(text)")
    case 5: DownloadFailure(.resolve, "the proxy's name could not be resolved: \(text)")
    case 6: DownloadFailure(.resolve, "the host's name could not be resolved: \(text)")
    case 7, 97: DownloadFailure(.connect, "no connection: \(text)")
    case 28: DownloadFailure(.connect, "no connection in time: \(text)")
    case 35: DownloadFailure(.tls, "no TLS connection: \(text)")
    // The server's certificate, or those that it is checked with.
    case 51, 60, 77, 82, 83, 90, 91:
      DownloadFailure(.certificate, "the server cannot be trusted: \(text)")
    case 18: DownloadFailure(.truncated, "ended too early: \(text)")
    case 52: DownloadFailure(.connectionLost, "the server closed without an answer")
    case 16, 55, 56, 92: DownloadFailure(.connectionLost, "the connection broke: \(text)")
    // No HTTP, headers without end (which older libcurls call a lack of memory), no encoding.
    case 1, 8, 27, 61, 100: DownloadFailure(.nonsense, "the answer makes no sense: \(text)")
    default: DownloadFailure(.connectionLost, "failed: \(text) (libcurl error \(code))")
    }
  }
}
