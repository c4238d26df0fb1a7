internal import OpflowCore
internal import OpflowSystem

/// What lay where a task leaves its outputs before it started, by stamps alone: what is still the same when it
/// has ended was not made by it, and may be somebody's own.
struct FoundOutputs {
  private let declaring: DeclaringTask
  private let folders: FolderMemory
  private let before: Files
  private let earlier: LeftFiles
  /// What earlier attempts made, by path.
  private let own: [[UInt8]: SeenFile]

  /// What is there at one time, by path as the task's folder sees it.
  private struct Files {
    var files: [[UInt8]: (kind: SeenFile.Kind, stamp: FileStamp)] = [:]
    /// Something could not be looked at.
    var isUnknown = false
  }

  /// Of one folder.
  private static let mostEntries = 4_000_000

  init(_ declaring: DeclaringTask, _ folders: FolderMemory, earlier: LeftFiles) {
    self.declaring = declaring
    self.folders = folders
    self.earlier = earlier
    own = Dictionary(
      earlier.made.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
    before = Self.files(of: declaring, folders)
  }

  private static func files(of declaring: DeclaringTask, _ folders: FolderMemory) -> Files {
    var files = Files()
    for output in declaring.outputs {
      switch output {
      case .path(let path): add(Array(path.utf8), of: declaring, folders, to: &files)
      case .glob(let pattern):
        switch FileNames.fitting(
          pattern, in: declaring.folder, folders: folders, keepsLinks: true)
        {
        case .success(let names):
          for place in 0..<names.count {
            add(names[place], of: declaring, folders, to: &files)
          }
        case .failure: files.isUnknown = true
        }
      }
    }
    return files
  }

  /// A folder with all that is in it.
  private static func add(
    _ path: [UInt8], of declaring: DeclaringTask, _ folders: FolderMemory, to files: inout Files
  ) {
    var open = [path]
    while let path = open.popLast() {
      do throws(Errno) {
        let status = try status(path, declaring)
        files.files[path] = (SeenFile.Kind(status), FileStamp(status))
        guard status.kind == .directory else { continue }
        let slash = UInt8(ascii: "/")
        let inside = path.last == slash ? path : path + [slash]
        let whole = DeclaringTask.absolute(path, in: declaring.folder)
        let listing = try folders.listing(of: whole + [0], most: mostEntries)
        open += (0..<listing.count).map { inside + listing.names[$0] }
      } catch {
        if error != .noSuchFile && error != .notADirectory { files.isUnknown = true }
      }
    }
  }

  private static func status(
    _ path: [UInt8], _ declaring: DeclaringTask
  ) throws(Errno) -> FileStatus {
    try Path.linkStatus(
      ofBytes: DeclaringTask.absolute(path, in: declaring.folder) + [0], from: File.workingFolder)
  }

  /// The paths that are not the task's own; nil where that is not known.
  var strangers: [[UInt8]]? {
    if before.isUnknown { return nil }
    return before.files.keys.filter { own[$0] == nil && !earlier.mayBeOfLost($0) }
  }

  /// Notes in the record of a success which of its outputs it did not make.
  func note(in record: inout SuccessRecord) {
    record.knowsFound = true
    for output in record.outputs where isUntouched(output) {
      if let own = own[output.path], own.isSame(as: output) || own.stamp == stamp(output.path) {
        if output.kind != .folder { record.untouchedOutputs.append(output.path) }
      } else {
        record.foundOutputs.append(output.path)
      }
    }
  }

  private func stamp(_ path: [UInt8]) -> FileStamp? { before.files[path]?.stamp }

  private func isUntouched(_ output: SeenFile) -> Bool {
    if before.isUnknown { return true }
    guard let stamp = stamp(output.path) else { return false }
    // Its stamp may not be told in what was seen, where it is too young to be trusted.
    guard let status = try? Self.status(output.path, declaring) else { return false }
    return Self.isSame(FileStamp(status), stamp, output.kind)
  }

  /// A folder changes with what others put into it.
  private static func isSame(
    _ now: FileStamp, _ before: FileStamp, _ kind: SeenFile.Kind
  ) -> Bool {
    kind == .folder ? now.inode == before.inode && now.device == before.device : now == before
  }

  /// What an attempt left that is not a success: what it wrote, and what is there still of earlier ones. Contents
  /// are not read, so that a failure is told at once; nil where not all can be looked at.
  func left() -> SuccessRecord? {
    let now = Self.files(of: declaring, folders)
    if before.isUnknown || now.isUnknown { return nil }
    var record = SuccessRecord(
      terms: SuccessRecord.Terms(fingerprint: 0, declaration: 0, with: nil, needs: 0), inputs: [],
      readings: [])
    var made: [SeenFile] = []
    for (path, file) in now.files {
      let isUntouched = stamp(path).map { Self.isSame(file.stamp, $0, file.kind) } ?? false
      if !isUntouched {
        made.append(SeenFile(path: path, kind: file.kind, content: .none, stamp: file.stamp))
      } else if let own = own[path] {
        made.append(own)
        if earlier.untouched.contains(path) { record.untouchedOutputs.append(path) }
      } else if earlier.mayBeOfLost(path) {
        // Without a stamp it is never taken for unchanged, and so is never removed.
        made.append(SeenFile(path: path, kind: file.kind, content: .none, stamp: nil))
      }
    }
    made.sort { $0.path.lexicographicallyPrecedes($1.path) }
    record.outputs = SeenFiles(made)
    return record
  }
}

extension PlanKey {
  /// Of what was not read: no content has it.
  fileprivate static var none: PlanKey { PlanKey(high: 0, low: 0) }
}
