internal import OpflowBase
internal import OpflowPlan

struct FingerprintWriter {
  private var hasher = FingerprintHasher()
  /// Absolute and normalized.
  private let folder: ByteView
  private let style: FingerprintStyle

  init(folder: ByteView, style: FingerprintStyle) {
    self.folder = folder
    self.style = style
  }

  /// - Parameter shell: The digest of the command line before the script.
  mutating func fingerprint(
    of task: borrowing TaskValues, environment: UInt64, shell: UInt64
  ) -> Fingerprint {
    let kind = task.kind
    addAction(of: task)
    for source in task.instances?.sources ?? [] { hasher.add(source) }
    // Older versions treated downloads as commands.
    hasher.end(kind == .download && style == .relative ? .download : .run)
    // Environment and folder do not affect approvals and external tasks.
    let isRun = kind != .approve && kind != .block
    if isRun { hasher.add(environment) }
    hasher.end(.env)
    if isRun { hasher.add(path(task.settings.directory.stable)) }
    hasher.end(.dir)
    if kind == .shell { hasher.add(shell) }
    hasher.end(.shell)
    hasher.add(Self.digest(of: task.needs))
    hasher.end(.needs)
    return hasher.finish()
  }

  private mutating func addAction(of task: borrowing TaskValues) {
    hasher.add(UInt64(task.kind.rawValue))
    switch task.kind {
    case .shell, .approve: if let script = task.script { hasher.add(script.stable) }
    case .command: for word in task.words { hasher.add(word.stable) }
    case .download: if let download = task.download { add(download) }
    // Only the client knows what an external task does.
    case .block: break
    }
  }

  private mutating func add(_ download: Download) {
    let none = ByteView.empty
    hasher.add(UInt64(download.urls.count))
    for url in download.urls { hasher.add(url.stable) }
    // An absolute path may be inside the manifest's folder.
    let to = download.to?.stable ?? none
    hasher.add(to.first == UInt8(ascii: "/") ? path(to) : to)
    hasher.add(download.sha256 ?? download.lateSHA256 ?? none)
    hasher.add(download.sha512 ?? none)
    hasher.add(download.sizeBytes ?? DownloadEntry.none)
    hasher.add(UInt64(download.headers.count))
    for header in download.headers {
      hasher.add(header.name)
      hasher.add(header.value.stable)
    }
    hasher.add(UInt64(download.mode ?? .max))
  }

  private func path(_ path: ByteView) -> ByteView {
    switch style {
    case .relative: PathText.relative(path, to: folder)
    case .absolute: path
    }
  }

  /// The digests are added up: the order of variables does not matter. Trace variables are ignored.
  static func digest(of variable: EnvironmentList.Variable) -> UInt64 {
    let isOfTrace =
      variable.name.elementsEqual(TraceParent.variable.utf8)
      || variable.name.elementsEqual(TraceParent.stateVariable.utf8)
    return isOfTrace ? 0 : Digest.pair(variable.name, variable.value.stable)
  }

  static func digest(of environment: UInt64, secrets: [ByteView]) -> UInt64 {
    secrets.reduce(environment) { $0 &+ Hash.combine(Hash.xxh3($1), 1) }
  }

  static func digest(of shell: [Scalar]) -> UInt64 { Digest.list(shell.lazy.map(\.stable)) }

  private static func digest(of needs: [TaskValues.Need]) -> UInt64 {
    needs.reduce(0) { $0 &+ ($1.instancesDigest ?? Digest.need($1.name, $1.condition)) }
  }
}
