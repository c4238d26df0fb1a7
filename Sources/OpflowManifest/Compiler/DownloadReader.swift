internal import OpflowCore

/// What a download fetches, and what must be true of it.
struct Download {
  /// First choice first.
  var urls: [Scalar] = []
  var to: Scalar?
  /// Lower-case or upper-case hexadecimal.
  var sha256: Scalar?
  var sha512: Scalar?
  var sizeBytes: UInt64?
  var headers: [(name: Text, value: Scalar)] = []
  /// Permission bits.
  var mode: UInt32?
  var resumes = true
  var maximumBytesPerSecond: UInt64?
}

extension ManifestReader {
  /// Adds a download to the plan, and what decides its result to the fingerprint: where the file comes
  /// from, where it goes, and what must be true of it.
  mutating func add(
    _ download: Download, in directory: Directory, to task: inout TaskEntry
  ) {
    guard let to = download.to, !download.urls.isEmpty else { return }
    let target = PathText.absolute(to.text, from: directory.path, store: scope.store)
    var entry = DownloadEntry(
      target: builder.append(target),
      sources: builder.list(download.urls.map { builder.intern($0.text) }))
    entry.sha256 = lowercased(download.sha256)
    entry.sha512 = lowercased(download.sha512)
    if let size = download.sizeBytes { entry.sizeBytes = size }
    entry.headers = builder.environment(
      download.headers.map {
        EnvironmentItem(name: builder.intern($0.name), value: builder.intern($0.value.text))
      })
    if let mode = download.mode { entry.mode = mode }
    entry.resumes = download.resumes ? 1 : 0
    entry.maxBytesPerSecond = download.maximumBytesPerSecond ?? 0
    task.download = builder.download(entry)

    hasher.add(UInt64(ActionKind.download.rawValue))
    hasher.add(UInt64(download.urls.count))
    for url in download.urls { hasher.add(url.stable) }
    // A path that is written from the root may lie in the manifest's folder too.
    hasher.add(to.stable.first == UInt8(ascii: "/") ? fingerprintPath(to.stable) : to.stable)
    for hash in [entry.sha256, entry.sha512] { builder.withText(hash) { hasher.add($0) } }
    hasher.add(entry.sizeBytes)
    hasher.add(UInt64(download.headers.count))
    for header in download.headers {
      hasher.add(header.name)
      hasher.add(header.value.stable)
    }
    hasher.add(UInt64(entry.mode))
  }

  private mutating func lowercased(_ hash: Scalar?) -> TextRef {
    guard let hash else { return .empty }
    return builder.intern(hash.text.map { ASCII.isLetter($0) ? $0 | 0x20 : $0 })
  }

  mutating func readDownload(_ node: Node, in directory: Directory) -> Download? {
    guard document.kind(node) == .mapping else {
      values.wrongType(
        node, Subject(TaskKey.download), expected: "a map",
        help: "write { url: https://…, to: FILE }")
      return nil
    }
    let fields = maps.fields(node, tables.download, owner: "`download`")
    var download = Download()
    readURLs(fields, of: node, into: &download)
    if let to = fields[.to] {
      download.to = values.filledString(to, Subject(DownloadKey.to))
      if let path = download.to { warnOfShellText(path, to, Subject(DownloadKey.to)) }
      if let path = download.to { noteTarget(path, in: directory) }
    } else if !fields.isMeant(.to) {
      reportMissing(.to, of: node)
    }
    download.sha256 = fields[.sha256].flatMap { readHash($0, .sha256, digitCount: 64) }
    download.sha512 = fields[.sha512].flatMap { readHash($0, .sha512, digitCount: 128) }
    download.sizeBytes = fields[.size].flatMap { values.size($0, Subject(DownloadKey.size)) }
    if let headers = fields[.headers] { readHeaders(headers, into: &download) }
    download.mode = fields[.mode].flatMap { readMode($0) }
    if let resume = fields[.resume] {
      download.resumes = values.boolean(resume, Subject(DownloadKey.resume)) ?? true
    }
    if let speed = fields[.maxSpeed] { download.maximumBytesPerSecond = readSpeed(speed) }
    return download
  }

  private mutating func noteTarget(_ path: Scalar, in directory: Directory) {
    let last = path.text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last
    guard let last, !last.isEmpty, !last.elementsEqual(".".utf8), !last.elementsEqual("..".utf8)
    else {
      mistakes.error(
        document.place(path.node), "`\(path.text.string)` names a folder, not a file",
        help: "say what the file in it is to be called")
      return
    }
    noteWritten(path, in: directory, .download)
  }

  private func reportMissing(_ key: DownloadKey, of node: Node) {
    mistakes.error(document.place(node), "the `download` has no `\(key.name)`")
  }

  private mutating func readURLs(
    _ fields: Fields<DownloadKey>, of node: Node, into download: inout Download
  ) {
    if let url = fields[.url] {
      if let url = readURL(url, Subject(DownloadKey.url)) { download.urls.append(url) }
    } else if !fields.isMeant(.url) {
      reportMissing(.url, of: node)
    }
    guard let mirrors = fields[.mirrors],
      let items = values.items(mirrors, Subject(DownloadKey.mirrors), expected: "a list of URLs")
    else { return }
    download.urls += items.compactMap { readURL($0, .item(of: DownloadKey.mirrors)) }
  }

  private mutating func readURL(_ node: Node, _ subject: Subject) -> Scalar? {
    hideCredentials(in: node)
    guard let url = values.filledString(node, subject) else { return nil }
    var help: String?
    do throws(WebAddress.Mistake) {
      _ = try WebAddress(url.text.string)
      if url.text.allSatisfy({ $0 > 32 && $0 != 127 }) { return url }
      help = "write a blank in it as %20"
    } catch {
      help = error.text
    }
    mistakes.error(
      document.place(node), "\(subject.description) must be an http, https or file URL",
      help: help)
    return nil
  }

  /// Has no mistake show a password that is in an address as it is written.
  private func hideCredentials(in node: Node) {
    guard document.kind(node) == .scalar else { return }
    let text = document.text(node)
    guard text.contains(UInt8(ascii: "@")) else { return }
    // An `@` of a path is no credential's.
    if let address = try? WebAddress(text.string), address.userInfo == nil { return }
    let start = document.offset(node)
    let source = document.source
    let end = [start, start + 1].first {
      $0 + text.count <= source.count
        && source.part($0..<($0 + text.count)).elementsEqual(text)
    }
    mistakes.hide(
      Secret(
        place: document.place(node), extent: .credentials(end: end.map { $0 + text.count })))
  }

  private mutating func readHash(_ node: Node, _ key: DownloadKey, digitCount: Int) -> Scalar? {
    let subject = Subject(key)
    guard let hash = values.scalar(node, subject, expected: "a hash in hexadecimal") else {
      return nil
    }
    guard hash.text.allSatisfy(ASCII.isHexadecimal) else {
      mistakes.error(document.place(node), "\(subject.description) must be hexadecimal digits")
      return nil
    }
    guard hash.text.count == digitCount else {
      mistakes.error(
        document.place(node),
        "\(subject.description) must have \(digitCount) digits, not \(hash.text.count)")
      return nil
    }
    return hash
  }

  private mutating func readHeaders(_ node: Node, into download: inout Download) {
    guard let entries = mapEntries(node, Subject(DownloadKey.headers)) else { return }
    for index in 0..<entries.count {
      let name = entries.name(index)
      // Mostly it lets somebody in.
      let secret = Secret(place: document.place(entries.value(index)), extent: .rest)
      if !Self.isHeaderName(name) {
        mistakes.hide(secret)
        mistakes.error(
          document.place(entries.keys[index]), "`\(name.string)` is no name of an HTTP header")
      }
      let subject = Subject.entry("headers", name)
      guard let value = values.scalar(entries.value(index), subject, expected: "a string") else {
        continue
      }
      // A line end in a header would begin another one.
      if value.text.contains(where: { $0 == 10 || $0 == 13 }) {
        mistakes.hide(secret)
        mistakes.error(document.place(value.node), "\(subject.description) holds a line end")
      }
      download.headers.append((name, value))
    }
  }

  /// A token of RFC 9110, section 5.6.2.
  private static func isHeaderName(_ text: Text) -> Bool {
    let marks = Array("!#$%&'*+-.^_`|~".utf8)
    return !text.isEmpty
      && text.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || marks.contains($0) }
  }

  private mutating func readMode(_ node: Node) -> UInt32? {
    let subject = Subject(DownloadKey.mode)
    guard let mode = values.string(node, subject) else { return nil }
    guard (3...4).contains(mode.text.count), let bits = UInt32(mode.text.string, radix: 8) else {
      mistakes.error(
        document.place(node), "\(subject.description) must be three or four octal digits",
        help: "such as \"0644\"")
      return nil
    }
    return bits
  }

  private mutating func readSpeed(_ node: Node) -> UInt64? {
    let subject = Subject(DownloadKey.maxSpeed)
    guard let speed = values.scalar(node, subject, expected: "a size per second") else {
      return nil
    }
    let text = speed.text.hasSuffix("/s") ? speed.text.part(0..<(speed.text.count - 2)) : speed.text
    guard let bytes = SizeText.bytes(text), bytes > 0 else {
      mistakes.error(
        document.place(node), "\(subject.description) must be a size per second",
        help: "such as 10MiB")
      return nil
    }
    return bytes
  }
}
