internal import OpflowBase

struct DownloadReader: NodeReader {
  let values: ValueReader

  func read(_ node: Node, into task: inout TaskValues) {
    guard
      let fields = fields(
        node, Subject(TaskKey.download), tables.download, help: "write { url: https://…, to: FILE }"
      )
    else { return }
    var download = Download()
    readURLs(fields, of: node, into: &download)
    if let to = fields[.to] {
      download.to = values.filledString(to, Subject(DownloadKey.to))
      if let path = download.to { values.warnOfShellText(path, to, Subject(DownloadKey.to)) }
      if let path = download.to { noteTarget(path, in: &task) }
    } else if !fields.isMeant(.to) {
      reportMissing(.to, of: node)
    }
    if let node = fields[.sha256] {
      scope.valuePlace = .late
      switch readHash(node, .sha256, digitCount: 64) {
      case .hash(let hash): download.sha256 = hash
      case .late(let text): download.lateSHA256 = text
      case nil: break
      }
      scope.valuePlace = .none
    }
    if case .hash(let hash)? = fields[.sha512].flatMap({
      readHash($0, .sha512, digitCount: 128)
    }) {
      download.sha512 = hash
    }
    download.sizeBytes = fields[.size].flatMap { values.size($0, Subject(DownloadKey.size)) }
    if let headers = fields[.headers] { readHeaders(headers, into: &download) }
    download.mode = fields[.mode].flatMap { readMode($0) }
    if let resume = fields[.resume] {
      download.resumes = values.boolean(resume, Subject(DownloadKey.resume)) ?? true
    }
    if let speed = fields[.maxSpeed] { download.maximumBytesPerSecond = readSpeed(speed) }
    task.download = download
  }

  private func noteTarget(_ path: Scalar, in task: inout TaskValues) {
    let last = path.text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last
    guard let last, !last.isEmpty, !last.elementsEqual(".".utf8), !last.elementsEqual("..".utf8)
    else {
      return error(
        path.node, "`\(path.text.string)` is a folder, not a file",
        help: "add the name of the file, such as `cache/FILE`")
    }
    task.written.append(
      TaskValues.WrittenFile(path: .init(node: path.node, text: path.text), kind: .download))
  }

  private func reportMissing(_ key: DownloadKey, of node: Node) {
    error(
      node, "`download` has no `\(key.name)`",
      help: key == .to
        ? "add the path of the file: `to: cache/FILE`"
        : "add the address of the file: `url: https://example.org/FILE`")
  }

  private func readURLs(_ fields: Fields<DownloadKey>, of node: Node, into download: inout Download)
  {
    if let url = fields[.url] {
      scope.valuePlace = .late
      if let url = readURL(url, Subject(DownloadKey.url)) { download.urls.append(url) }
      scope.valuePlace = .none
    } else if !fields.isMeant(.url) {
      reportMissing(.url, of: node)
    }
    guard let mirrors = fields[.mirrors],
      let items = values.items(mirrors, Subject(DownloadKey.mirrors), expected: "a list of URLs")
    else { return }
    download.urls += items.compactMap { readURL($0, .item(of: DownloadKey.mirrors)) }
  }

  private func readURL(_ node: Node, _ subject: Subject) -> Scalar? {
    hideCredentials(in: node)
    guard let url = values.filledString(node, subject) else { return nil }
    // A late URL is checked when it is known.
    if url.isLate { return url }
    var help: String?
    do throws(WebAddress.ParseError) {
      _ = try WebAddress(url.text.string)
      if url.text.allSatisfy({ $0 > 32 && $0 != 127 }) {
        // Unlike `$`, braces are invalid in URLs.
        if url.text.contains(UInt8(ascii: "{")) { values.warnOfShellText(url, node, subject) }
        return url
      }
      help = "write a space as %20"
    } catch {
      help = error.text
    }
    return error(node, "\(subject.description) must be an http, https or file URL", help: help)
  }

  private func hideCredentials(in node: Node) {
    guard document.kind(node) == .scalar else { return }
    let text = document.text(node)
    guard text.contains(UInt8(ascii: "@")) else { return }
    // The `@` is in the path, not in credentials.
    if let address = try? WebAddress(text.string), address.userInfo == nil { return }
    let start = document.offset(node)
    let source = document.source
    let end = [start, start + 1].first {
      $0 + text.count <= source.count && source.part($0..<($0 + text.count)).elementsEqual(text)
    }
    diagnostics.hide(
      Secret(place: document.place(node), extent: .credentials(end: end.map { $0 + text.count })))
  }

  private enum Hash {
    case hash(ByteView)
    case late(ByteView)
  }

  private func readHash(_ node: Node, _ key: DownloadKey, digitCount: Int) -> Hash? {
    let subject = Subject(key)
    guard let hash = values.scalar(node, subject, expected: "a hash in hexadecimal") else {
      return nil
    }
    if hash.isLate { return .late(hash.stable) }
    guard hash.text.allSatisfy(ASCII.isHexadecimal) else {
      return error(
        node, "\(subject.description) must be \(digitCount) hexadecimal digits",
        help: "`\(key.name)sum FILE` prints them")
    }
    guard hash.text.count == digitCount else {
      return error(
        node, "\(subject.description) must have \(digitCount) digits, not \(hash.text.count)",
        help: "`\(key.name)sum FILE` prints them")
    }
    return .hash(lowercased(hash.text))
  }

  private func lowercased(_ hash: ByteView) -> ByteView {
    if !hash.contains(where: { $0 >= 65 && $0 <= 90 }) { return hash }
    return hash.map { ASCII.isLetter($0) ? $0 | 0x20 : $0 }.withUnsafeBytes { scratch.copy($0) }
  }

  private func readHeaders(_ node: Node, into download: inout Download) {
    guard let entries = values.mapEntries(node, Subject(DownloadKey.headers)) else { return }
    scope.position = .headers
    defer { scope.position = .task }
    for index in 0..<entries.count {
      let name = entries.name(index)
      // A header often contains credentials.
      let secret = Secret(place: document.place(entries.value(index)), extent: .rest)
      if !Self.isHeaderName(name) {
        diagnostics.hide(secret)
        error(
          entries.keys[index], "`\(name.string)` is not a valid HTTP header name",
          help: "use letters, digits and `-`, as in `Accept-Language`")
      }
      let subject = Subject.entry("headers", name)
      guard let value = values.scalar(entries.value(index), subject, expected: "a string") else {
        continue
      }
      // A newline would start another header.
      if value.text.contains(where: { $0 == 10 || $0 == 13 }) {
        diagnostics.hide(secret)
        error(
          value.node, "\(subject.description) contains a newline", help: "write it on one line")
      }
      download.headers.append((name, value))
    }
  }

  /// A token of RFC 9110, section 5.6.2.
  private static func isHeaderName(_ text: ByteView) -> Bool {
    let marks = Array("!#$%&'*+-.^_`|~".utf8)
    return !text.isEmpty
      && text.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || marks.contains($0) }
  }

  private func readMode(_ node: Node) -> UInt32? {
    let subject = Subject(DownloadKey.mode)
    guard let mode = values.string(node, subject) else { return nil }
    guard (3...4).contains(mode.text.count), mode.text.allSatisfy(ASCII.isDigit),
      let bits = UInt32(mode.text.string, radix: 8)
    else {
      return error(
        node, "\(subject.description) must be three or four octal digits",
        help: "write it in quotes, such as \"0644\"")
    }
    return bits
  }

  private func readSpeed(_ node: Node) -> UInt64? {
    let subject = Subject(DownloadKey.maxSpeed)
    guard let speed = values.scalar(node, subject, expected: "a size per second") else {
      return nil
    }
    let text = speed.text.hasSuffix("/s") ? speed.text.part(0..<(speed.text.count - 2)) : speed.text
    guard let bytes = SizeText.bytes(text), bytes > 0 else {
      return error(node, "\(subject.description) must be a size per second", help: "such as 10MiB")
    }
    return bytes
  }
}
