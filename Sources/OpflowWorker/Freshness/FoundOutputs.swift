internal import OpflowBase
internal import OpflowSystem

/// The files at a task's outputs before its start, by stamp only: a file unchanged at the end was
/// not made by the task and may be the user's.
struct FoundOutputs {
  private let declaring: DeclaringTask
  private let folders: FolderMemory
  private let before: Files
  private let earlier: LeftFiles
  private let own: [[UInt8]: SeenFile]

  /// By path relative to the task's folder.
  private struct Files {
    var files: [[UInt8]: (kind: SeenFile.Kind, stamp: FileStamp)] = [:]
    var isUnknown = false
  }

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

  /// Paths that are not the task's; nil if unknown.
  var strangers: [[UInt8]]? {
    if before.isUnknown { return nil }
    return before.files.keys.filter { own[$0] == nil && !earlier.mayBeOfLost($0) }
  }

  /// Marks the outputs that existed before the task ran.
  func note(in record: inout SuccessRecord) {
    record.knowsFound = true
    for output in record.outputs {
      let isUntouched = isUntouched(output)
      if isUntouched, !isOwn(output) {
        record.foundOutputs.append(output.path)
        continue
      }
      if output.kind == .folder { continue }
      if isUntouched { record.untouchedOutputs.append(output.path) }
      if isFromBefore(output) { record.changedOutputs.append(output.path) }
    }
  }

  private func isOwn(_ output: SeenFile) -> Bool {
    own[output.path].map { $0.isSame(as: output) || $0.stamp == stamp(output.path) } ?? false
  }

  /// True if the file existed before the task's first attempt.
  private func isFromBefore(_ file: SeenFile) -> Bool {
    guard file.kind != .folder, let kind = before.files[file.path]?.kind, kind != .folder else {
      return false
    }
    if own[file.path] != nil { return earlier.changed.contains(file.path) }
    return !earlier.mayBeOfLost(file.path)
  }

  private func stamp(_ path: [UInt8]) -> FileStamp? { before.files[path]?.stamp }

  private func isUntouched(_ output: SeenFile) -> Bool {
    if before.isUnknown { return true }
    guard let stamp = stamp(output.path) else { return false }
    // The scan may have dropped the stamp as too young.
    guard let status = try? Self.status(output.path, declaring) else { return false }
    return Self.isSame(FileStamp(status), stamp, output.kind)
  }

  /// A folder's times change when others add files, so only its identity counts.
  private static func isSame(_ now: FileStamp, _ before: FileStamp, _ kind: SeenFile.Kind) -> Bool {
    kind == .folder ? now.inode == before.inode && now.device == before.device : now == before
  }

  /// The files of this and earlier attempts; nil if not all can be scanned. Does not read contents,
  /// so that the failure is reported soon.
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
        let seen = SeenFile(path: path, kind: file.kind, content: .none, stamp: file.stamp)
        made.append(seen)
        if isFromBefore(seen) { record.changedOutputs.append(path) }
      } else if let own = own[path] {
        made.append(own)
        if earlier.untouched.contains(path) { record.untouchedOutputs.append(path) }
        if earlier.changed.contains(path) { record.changedOutputs.append(path) }
      } else if earlier.mayBeOfLost(path) {
        // Without a stamp it never counts as unchanged, so it is never removed.
        made.append(SeenFile(path: path, kind: file.kind, content: .none, stamp: nil))
      }
    }
    made.sort { $0.path.lexicographicallyPrecedes($1.path) }
    record.outputs = SeenFiles(made)
    return record
  }
}

extension PlanKey {
  /// Unread content, which equals no other.
  fileprivate static var none: PlanKey { PlanKey(high: 0, low: 0) }
}

/// The files that a task's earlier attempts left at its outputs.
struct LeftFiles {
  /// As the attempts left them.
  var made: SeenFiles = []
  /// Files that the last attempt did not write again.
  var untouched: Set<[UInt8]> = []
  /// Files from before the first attempt, changed by the task.
  var changed: Set<[UInt8]> = []
  /// Paths that existed before an attempt whose end is unknown and are not the task's; nil without
  /// such an attempt.
  var strangersOfLost: Set<[UInt8]>?

  /// An attempt whose end is unknown may have written it.
  func mayBeOfLost(_ path: [UInt8]) -> Bool { strangersOfLost.map { !$0.contains(path) } ?? false }
}

/// Removes unchanged files of earlier attempts before the task starts, one at a time.
final class FileCleaning {
  private let own: OwnFiles
  private let outputs: [[UInt8]]
  private let isOfOther: ([UInt8]) -> Bool
  private var left: Int
  /// A file that was kept because it is behind a link.
  private(set) var behindLink: String?

  /// An output that is a link and not the task's.
  var link: String? {
    outputs.first { ((try? own.project.status($0)) ?? nil)?.kind == .link }.map {
      NameCharacters.text($0)
    }
  }

  /// `outputs` are declared paths. `isOfOther`: another task may have left the file too.
  init(_ own: OwnFiles, outputs: [[UInt8]], isOfOther: @escaping ([UInt8]) -> Bool) {
    self.own = own
    self.outputs = outputs
    self.isOfOther = isOfOther
    left = own.files.count
    own.openFolders()
  }

  deinit { own.closeFolders() }

  /// Returns true once all files are gone.
  func goOn(until deadline: Int64) throws(ScanFault) -> Bool {
    while left > 0 {
      // Folders come before their contents.
      left -= 1
      let file = own.files[left]
      do throws(Errno) {
        try remove(file)
      } catch .tooManyLinks {
        behindLink = file.name
      } catch {
        throw ScanFault(
          detail: "cannot remove `\(file.name)`, an output of its last attempt: \(error)")
      }
      if Clock.monotonicNanoseconds >= deadline { return left == 0 }
    }
    return true
  }

  private func remove(_ file: ProjectFile) throws(Errno) {
    guard try own.project.status(file.path) != nil, !isOfOther(file.path) else { return }
    switch file.seen.kind {
    case .other: return
    case .file, .executable, .link, .absent:
      if file.isMade, own.isAsLeft(file.path) { try own.project.remove(file.path, isFolder: false) }
    // A folder with other files stays.
    case .folder: try? own.project.remove(file.path, isFolder: true)
    }
  }
}
