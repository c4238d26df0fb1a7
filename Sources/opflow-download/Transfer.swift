internal import CTransfer
internal import OpflowBase
internal import OpflowDownload
internal import OpflowPlan
internal import OpflowSystem

protocol TransferReceiver: AnyObject {
  /// Returning false ends the transfer.
  func takeLine(_ bytes: UnsafeRawBufferPointer) -> Bool
  func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool
}

/// One HTTP transfer at a time with libcurl, over kept connections.
final class Transfer {
  enum Progress {
    case running
    case ended(DownloadFailure?)
  }

  private static let connectMilliseconds: Int32 = 30_000

  /// libcurl's default of 16 KiB costs more system calls. It reads up to a hundred times before it
  /// checks the time, so a speed limit needs small reads.
  private static func receiveBytes(_ maxBytesPerSecond: Int64) -> Int64 {
    if maxBytesPerSecond == 0 { return 256 * 1024 }
    return min(max(1024, maxBytesPerSecond / 400), 256 * 1024)
  }

  /// The longest pause that a speed limit causes.
  static func pauseNanoseconds(_ maxBytesPerSecond: Int64) -> Int64 {
    if maxBytesPerSecond == 0 { return 0 }
    return 100 * receiveBytes(maxBytesPerSecond) * 1_000_000_000 / maxBytesPerSecond
  }

  // SAFETY: created in init, freed in deinit, used by this object alone.
  private let handle: OpaquePointer
  private let inbox: Inbox
  /// Neither the environment nor the system names trusted certificates.
  private let lacksCertificates: Bool
  /// A third party could have caused the end of the last connection.
  private(set) var wasCut = false

  private final class Inbox {
    var receiver: (any TransferReceiver)?
  }

  /// Fails if libcurl lacks memory. Trusts the same certificates as curl(1): the system's, or those
  /// that the environment names.
  init?(environment: (String) -> String?) {
    let inbox = Inbox()
    // SAFETY: the inbox lives as long as this object, which frees the handle that refers to it.
    let sink = ctransfer_sink(
      context: Unmanaged.passUnretained(inbox).toOpaque(),
      line: { context, bytes, count in
        Transfer.inbox(context)?.receiver?.takeLine(
          UnsafeRawBufferPointer(start: bytes, count: count)) == true ? 0 : 1
      },
      body: { context, bytes, count in
        Transfer.inbox(context)?.receiver?.takeBody(
          UnsafeRawBufferPointer(start: bytes, count: count)) == true ? 0 : 1
      })
    // libcurl itself only knows the path of the distribution that it was built for.
    let file =
      environment("CURL_CA_BUNDLE") ?? environment("SSL_CERT_FILE")
      ?? TrustedCertificates.bundles.first(where: Path.exists)
    let folder = environment("SSL_CERT_DIR")
    guard let handle = ctransfer_create(sink, file, folder) else { return nil }
    self.inbox = inbox
    lacksCertificates = file == nil && folder == nil
    self.handle = handle
  }

  deinit { ctransfer_free(handle) }

  private static func inbox(_ context: UnsafeMutableRawPointer?) -> Inbox? {
    // SAFETY: the context is the inbox that `init` passed, which is alive.
    context.map { Unmanaged<Inbox>.fromOpaque($0).takeUnretainedValue() }
  }

  func begin(
    _ request: FetchRequest, maxBytesPerSecond: Int64, proxy: String?, noProxy: String?,
    receiver: any TransferReceiver
  ) throws(DownloadFailure) {
    inbox.receiver = receiver
    let lines = Self.lines(request.headers)
    let block = StringBlock(lines)
    let code = withExtendedLifetime(block) {
      Self.withOptional(request.address.userInfo) { userInfo in
        Self.withOptional(proxy) { proxy in
          Self.withOptional(noProxy) { noProxy in
            request.address.text.withCString { url in
              var request = ctransfer_request(
                url: url, headers: block.pointers, header_count: lines.count, user_info: userInfo,
                proxy: proxy, no_proxy: noProxy, max_speed: maxBytesPerSecond,
                connect_milliseconds: Self.connectMilliseconds,
                receive_bytes: Int32(clamping: Self.receiveBytes(maxBytesPerSecond)),
                is_file: request.address.scheme == .file ? 1 : 0)
              // SAFETY: every string lives until the call returns; libcurl copies them.
              return ctransfer_begin(handle, &request)
            }
          }
        }
      }
    }
    if code != 0 { throw TransferCode.refusal(code, text: text(of: code)) }
  }

  private static func lines(_ headers: [DownloadHeader]) -> [String] {
    var lines = headers.map { header in
      // With a colon, libcurl would omit an empty header.
      header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)"
    }
    let names = headers.map { $0.name.lowercased() }
    // Sizes and hashes are of the unencoded file.
    if !names.contains("accept-encoding") { lines.append("Accept-Encoding: identity") }
    if !names.contains("user-agent") { lines.append("User-Agent: opflow") }
    return lines
  }

  private static func withOptional<Result>(
    _ text: String?, _ body: (UnsafePointer<CChar>?) -> Result
  ) -> Result {
    guard let text else { return body(nil) }
    return text.withCString { body($0) }
  }

  /// Also returns true if one of `others` is readable.
  func step(others: [Int32], milliseconds: Int32) -> (Progress, Bool) {
    var ready: Int32 = 0
    // SAFETY: the array lives until the call returns.
    let result = ctransfer_step(handle, others, Int32(others.count), milliseconds, &ready)
    if result == 0 { return (.running, ready != 0) }
    if result < 0 {
      cancel()
      let text = "libcurl cannot continue the transfer"
      return (.ended(DownloadFailure(.connectionLost, text)), ready != 0)
    }
    inbox.receiver = nil
    let end = ctransfer_result(handle)
    wasCut = end.is_cut != 0
    if end.code == 0 { return (.ended(nil), ready != 0) }
    if lacksCertificates && TransferCode.isUnreadableBundle(end.code) {
      return (.ended(TrustedCertificates.missing), ready != 0)
    }
    let reason = end.system_error == 0 ? "" : "\(Errno(rawValue: end.system_error))"
    let failure = TransferCode.failure(end.code, text: text(of: end.code), reason: reason)
    return (.ended(failure), ready != 0)
  }

  func cancel() {
    ctransfer_cancel(handle)
    inbox.receiver = nil
  }

  private func text(of code: Int32) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      guard let start = buffer.baseAddress else { return "" }
      // SAFETY: the shim writes at most `count` bytes, the last one a zero.
      ctransfer_error_text(handle, code, start, buffer.count)
      return String(cString: start)
    }
  }
}

/// libcurl reads this process's environment, but not the manifest's `env`.
struct ProxySettings {
  private static let names = [
    "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
  ]

  private var values: [String: String] = [:]

  /// - Parameter late: Overrides the plan's values, by index.
  init(_ plan: Plan, _ task: TaskID, _ late: [Int: [UInt8]] = [:]) {
    for item in plan.environmentList(plan.record(task).environment) {
      let name = plan.string(item.name)
      if Self.names.contains(name) {
        values[name] =
          item.place.flatMap { late[$0] }.map { String(decoding: $0, as: UTF8.self) }
          ?? plan.string(item.value)
      }
    }
  }

  private func first(_ names: [String]) -> String? {
    for name in names {
      if let value = values[name] ?? Environment.value(name) { return value }
    }
    return nil
  }

  /// Nil if libcurl should use the environment, like curl(1).
  func proxy(for scheme: WebAddress.Scheme) -> String? {
    if values.isEmpty { return nil }
    switch scheme {
    case .file: return nil
    // HTTP_PROXY is ignored: in a CGI program, a request header sets it.
    case .http: return first(["http_proxy", "all_proxy", "ALL_PROXY"]) ?? ""
    case .https: return first(["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]) ?? ""
    }
  }

  var exceptions: String? { values.isEmpty ? nil : first(["no_proxy", "NO_PROXY"]) ?? "" }
}

enum LocalFile {
  /// Replaces a server's response; nil for other addresses.
  static func head(_ address: WebAddress) throws(DownloadFailure) -> ResponseHead? {
    guard let path = address.filePath else { return nil }
    // NUL would end the path.
    if path.utf8.contains(0) {
      throw DownloadFailure(.request, "a file path cannot contain a NUL character")
    }
    let status: FileStatus
    do throws(Errno) {
      status = try Path.status(path)
    } catch {
      throw DownloadFailure(.request, "cannot read \(path): \(error)")
    }
    if status.kind != .file {
      throw DownloadFailure(
        .request, "cannot read \(path): it is \(Place.name(status.kind)), not a regular file")
    }
    var head = ResponseHead(status: 200)
    head.contentLength = status.sizeBytes
    return head
  }
}
