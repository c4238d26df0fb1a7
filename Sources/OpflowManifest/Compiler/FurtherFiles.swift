internal import OpflowCore

/// The files that a manifest names, each read once, and all of them bounded together.
final class FurtherFiles {
  /// By the path that each is looked for, in the order in which they were come upon.
  private(set) var read: [(path: String, file: NamedFile)] = []
  private let options: CompileOptions
  private var numbers: [String: Int] = [:]
  /// That may still be read.
  private var bytesLeft: Int

  /// The largest of them.
  static let mostBytes = 256 << 20

  init(_ options: CompileOptions, rootBytes: Int) {
    self.options = options
    bytesLeft = ManifestCompiler.maximumBytes - rootBytes
  }

  /// - Parameter path: absolute.
  func read(_ path: String, atMost limit: Int = mostBytes) throws(NamedFileFault) -> NamedFile {
    if let number = numbers[path] { return read[number].file }
    let file = try options.readFile(path, min(limit, max(0, bytesLeft)))
    bytesLeft -= file.bytes.count
    numbers[path] = read.count
    read.append((path, file))
    return file
  }

  /// As a plan knows them.
  var planFiles: [PlanFile] {
    read.map {
      PlanFile(path: $0.path, realPath: $0.file.realPath, content: Hash.planKey($0.file.bytes))
    }
  }
}

extension NamedFileFault {
  /// As the end of a mistake.
  var text: String {
    switch self {
    case .missing: "there is no such file"
    case .noFile(let kind): "it is \(kind), not a file"
    case .tooLarge:
      "it is larger than \(FurtherFiles.mostBytes >> 20) MiB, or all files are together"
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
    case .noFile(let kind):
      kind == "a folder" ? "name the file in it" : nil
    case .tooLarge, .failed: nil
    }
  }
}
