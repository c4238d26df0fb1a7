internal import OpflowBase
package import OpflowJournal
internal import OpflowPlan
internal import OpflowSystem

/// Where a run's manifest is now: at its old path, or at the same path relative to a moved or
/// copied state folder; otherwise only the copy in the run's folder is left.
package struct RunManifest {
  /// The path that the plan uses; `-` for standard input.
  package let realPath: String
  /// The base of relative paths; absolute.
  let folder: String
  let source: String
  /// The contents, if they are not in `source`.
  private var copy: [UInt8]?
  /// Neither at its old path nor beside the state folder.
  let isGone: Bool
  /// Of a copied run; it may be live.
  let original: RunFolder?
  private let open: OpenEntry
  /// nil if the state folder was not moved.
  private let movedState: String?
  let warning: String?

  package init(_ open: OpenEntry, _ run: RunFolder) {
    let state = Path.parent(of: Path.parent(of: run.path))
    let isMoved = Self.isMoved(from: open.stateFolder, to: state)
    self.open = open
    movedState = isMoved ? state : nil
    let isFile = open.manifestPath != ManifestFile.standardInput
    let recorded = isFile ? try? Path.real(open.manifestPath) : nil
    let moved =
      isMoved && isFile ? try? Path.real(open.moved(open.manifestPath, to: state)) : nil
    let old = RunFolder(id: run.id, path: "\(open.stateFolder)/runs/\(run.id)")
    original = isMoved && Path.isDirectory(old.path) ? old : nil

    isGone = isFile && moved == nil && recorded == nil
    if let found = moved ?? recorded {
      realPath = found
      folder = Path.parent(of: found)
      source = found
      if let recorded, let moved, recorded != moved {
        warning =
          "the run began with \(CleanText.string(recorded)), which is still there; its state folder"
          + " is elsewhere now, and \(CleanText.string(moved)) beside it is used"
      } else {
        warning = nil
      }
      return
    }
    realPath = open.manifestPath
    let movedFolder = isMoved ? try? Path.real(open.moved(open.folder, to: state)) : nil
    folder = movedFolder.flatMap { Path.isDirectory($0) ? $0 : nil } ?? open.folder
    source = run.manifest
    warning = nil
  }

  /// Another name of the same folder does not count as moved.
  private static func isMoved(from old: String, to new: String) -> Bool {
    guard !old.isEmpty, old != new else { return false }
    guard let was = try? Path.status(old), let now = try? Path.status(new) else { return true }
    return was.identity != now.identity
  }

  /// The current path of another file of the run.
  func place(of path: String) -> String {
    guard let movedState, path.hasPrefix("/") else { return path }
    let moved = open.moved(path, to: movedState)
    return Path.exists(moved) ? moved : path
  }

  var isCopy: Bool { source != realPath }

  /// Uses the manifest of the last session if a killed resume has left another one.
  mutating func takeCopy(of driven: [String], from kept: KeptFiles) {
    guard let root = driven.first, let hash = try? FileHash.planKey(source),
      hash.description != FileEntry.hash(root)
    else { return }
    copy = kept.named(by: [root]).files.first?.bytes
  }

  func read() throws(PreparationError) -> ManifestFile {
    if !isCopy {
      // The path was recorded, not given by the user: a link to a device may be there by now.
      guard let file = try? Path.status(realPath), file.kind != .file else {
        return try ManifestFile(at: realPath)
      }
      throw .unreadable(manifest: open.manifestPath, .notRegular)
    }
    do throws(Errno) {
      let bytes =
        if let copy { copy } else { try File.readRegular(source, atMost: ManifestFile.mostBytes) }
      return ManifestFile(
        bytes: bytes, displayPath: source, realPath: realPath, folder: folder)
    } catch {
      throw .folder(.file(doing: "read", path: source, error))
    }
  }

  /// The known inputs of its plan. The manifest is only hashed, in case it is large and unchanged.
  func inputs(set: [String]) -> PlanInputs? {
    guard let hash = try? copy.map(Hash.planKey) ?? FileHash.planKey(source) else { return nil }
    var inputs = PlanInputs(opflowVersion: Version.text, folder: folder)
    inputs.set = set
    inputs.files = [PlanFile(path: realPath, realPath: realPath, content: hash)]
    return inputs
  }
}
