internal import OpflowBase
internal import OpflowPlan

/// Reads each file once; one limit applies to all together.
final class FurtherFiles {
  /// Files by the path that was opened, in order of discovery; nil for a missing optional file.
  private(set) var read: [(path: String, file: NamedFile?)] = []
  private let options: CompileOptions
  private var numbers: [PathKey: Int] = [:]
  private var bytesLeft: Int

  static let mostBytes = 256 << 20
  /// No process could be started with more.
  static let mostVariableBytes = 1 << 20

  init(_ options: CompileOptions, rootBytes: Int) {
    self.options = options
    bytesLeft = ManifestCompiler.maximumBytes - rootBytes
  }

  func read(_ path: String) throws(NamedFileFault) -> NamedFile {
    guard let file = try read(path, atMost: Self.mostBytes, mayBeMissing: false) else {
      throw .missing
    }
    return file
  }

  func read(
    _ path: String, atMost limit: Int, mayBeMissing: Bool
  ) throws(NamedFileFault) -> NamedFile? {
    let key = PathKey(path)
    if let number = numbers[key], read[number].file != nil || mayBeMissing {
      return read[number].file
    }
    var file: NamedFile?
    do throws(NamedFileFault) {
      file = try options.readFile(path, min(limit, max(0, bytesLeft)), mayBeMissing)
    } catch {
      guard mayBeMissing, error == .missing else { throw error }
    }
    bytesLeft -= file?.bytes.count ?? 0
    numbers[key] = read.count
    read.append((path, file))
    return file
  }

  var byteCount: Int { read.reduce(0) { $0 + ($1.file?.bytes.count ?? 0) } }

  var planFiles: [PlanFile] {
    read.map { path, file in
      guard let file else { return PlanFile(missing: path) }
      return PlanFile(path: path, realPath: file.realPath, content: Hash.planKey(file.bytes))
    }
  }
}

extension NamedFileFault {
  /// The end of an error message.
  func text(limit: Int) -> String {
    switch self {
    case .missing: "no such file"
    case .noFile(let kind): "it is \(kind), not a file"
    case .tooLarge: "it is larger than \(limit >> 20) MiB, or all files together are too large"
    case .failed(let reason): reason
    }
  }

  func help(_ written: ByteView, _ path: String) -> String? {
    switch self {
    case .missing:
      written.contains(UInt8(ascii: "*"))
        ? "opflow does not expand patterns here; name each file"
        : "a path is relative to the folder of the file that contains it; this one is \(path)"
    case .noFile(let kind): kind == "a folder" ? "name a file in it" : nil
    case .tooLarge, .failed: nil
    }
  }
}

final class MatrixFiles {
  private let further: FurtherFiles
  private let diagnostics: Diagnostics
  private let store: TextStore
  private let root: (folder: ByteView, shown: () -> String)
  private var opened: [FileNumber: SourceFile] = [:]

  init(
    _ further: FurtherFiles, root: (folder: ByteView, shown: () -> String),
    _ diagnostics: Diagnostics, store: TextStore
  ) {
    self.further = further
    self.root = root
    self.diagnostics = diagnostics
    self.store = store
  }

  func open(_ written: ByteView, in folder: ByteView) -> Result<SourceFile, ReadSources.FileFault> {
    let path = PathText.absolute(written, from: folder, store: store)
    do throws(NamedFileFault) {
      let file = try further.read(path.string)
      if let known = opened[file.number] { return .success(known) }
      let shown = PathText.relative(path, to: root.folder)
      let source = diagnostics.open(
        displayPath: shown.first == UInt8(ascii: "/") ? shown.string : root.shown() + shown.string,
        bytes: file.bytes)
      opened[file.number] = source
      return .success(source)
    } catch {
      return .failure(
        ReadSources.FileFault(
          text: error.text(limit: FurtherFiles.mostBytes), help: error.help(written, path.string)))
    }
  }
}
