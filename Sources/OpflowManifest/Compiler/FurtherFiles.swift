internal import OpflowCore

/// The files that a manifest names, each read once, and all of them bounded together.
final class FurtherFiles {
  /// By the path that each is looked for, in the order in which they were come upon; nil for one that is
  /// missing and may be.
  private(set) var read: [(path: String, file: NamedFile?)] = []
  private let options: CompileOptions
  private var numbers: [String: Int] = [:]
  /// That may still be read.
  private var bytesLeft: Int

  /// The largest manifest that is included.
  static let mostBytes = 256 << 20
  /// The largest file of variables: of more no process could be started.
  static let mostVariableBytes = 1 << 20

  init(_ options: CompileOptions, rootBytes: Int) {
    self.options = options
    bytesLeft = ManifestCompiler.maximumBytes - rootBytes
  }

  /// - Parameter path: absolute.
  func read(_ path: String) throws(NamedFileFault) -> NamedFile {
    guard let file = try read(path, atMost: Self.mostBytes, mayBeMissing: false) else {
      throw .missing
    }
    return file
  }

  /// Nil for one that is missing and may be.
  func read(
    _ path: String, atMost limit: Int, mayBeMissing: Bool
  ) throws(NamedFileFault) -> NamedFile? {
    if let number = numbers[path], read[number].file != nil || mayBeMissing {
      return read[number].file
    }
    var file: NamedFile?
    do throws(NamedFileFault) {
      file = try options.readFile(path, min(limit, max(0, bytesLeft)), mayBeMissing)
    } catch {
      guard mayBeMissing, error == .missing else { throw error }
    }
    bytesLeft -= file?.bytes.count ?? 0
    numbers[path] = read.count
    read.append((path, file))
    return file
  }

  /// Of all of them.
  var byteCount: Int { read.reduce(0) { $0 + ($1.file?.bytes.count ?? 0) } }

  /// As a plan knows them.
  var planFiles: [PlanFile] {
    read.map { path, file in
      guard let file else { return PlanFile(missing: path) }
      return PlanFile(path: path, realPath: file.realPath, content: Hash.planKey(file.bytes))
    }
  }
}

extension NamedFileFault {
  /// As the end of a mistake.
  ///
  /// - Parameter limit: of the file's bytes.
  func text(limit: Int) -> String {
    switch self {
    case .missing: "there is no such file"
    case .noFile(let kind): "it is \(kind), not a file"
    case .tooLarge: "it is larger than \(limit >> 20) MiB, or all files are together"
    case .failed(let reason): reason
    }
  }

  /// - Parameters:
  ///   - written: the path as it stands in the manifest.
  ///   - path: where it leads to.
  func help(_ written: Text, _ path: String) -> String? {
    switch self {
    case .missing:
      written.contains(UInt8(ascii: "*"))
        ? "no pattern is expanded here: name each file"
        : "a path starts from the folder of the file it stands in; this one leads to \(path)"
    case .noFile(let kind): kind == "a folder" ? "name the file in it" : nil
    case .tooLarge, .failed: nil
    }
  }
}
