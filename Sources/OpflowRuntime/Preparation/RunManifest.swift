package import OpflowCore
internal import OpflowSystem

/// Where the manifest of a run is now: where it was, or, when its state folder was moved or copied, at
/// the same place as seen from that; else only the copy in the run's folder is left.
package struct RunManifest {
  /// What a plan calls it; `-` for one that came from standard input.
  package let realPath: String
  /// Absolute: where relative paths in it start.
  let folder: String
  /// Of the bytes to be read.
  let source: String
  /// Those bytes, where they are not in `source`.
  private var copy: [UInt8]?
  /// Neither where it was nor beside the state folder.
  let isGone: Bool
  /// The run's folder is a copy: that of the run as it began is elsewhere, and may be live.
  let original: RunFolder?
  private let open: OpenEntry
  /// Where the state folder is now; nil where it is where it was.
  private let movedState: String?
  /// What is to be said of two manifests that may be meant.
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

  /// Another name of the same folder is no other place.
  private static func isMoved(from old: String, to new: String) -> Bool {
    guard !old.isEmpty, old != new else { return false }
    guard let was = try? Path.status(old), let now = try? Path.status(new) else { return true }
    return was.identity != now.identity
  }

  /// Where something else of the run is now, by the same rule as its manifest.
  func place(of path: String) -> String {
    guard let movedState, path.hasPrefix("/") else { return path }
    let moved = open.moved(path, to: movedState)
    return Path.exists(moved) ? moved : path
  }

  /// Whether a copy in the run's folder is read in the manifest's place.
  var isCopy: Bool { source != realPath }

  /// Takes the text that the run was driven with last, where a resume was killed before the copy in the
  /// run's folder was that, or after it was another.
  mutating func takeCopy(of driven: [String], from kept: KeptFiles) {
    guard let root = driven.first, let hash = try? FileHash.planKey(source),
      hash.description != FileEntry.hash(root)
    else { return }
    copy = kept.named(by: [root]).files.first?.bytes
  }

  func read() throws(PreparationError) -> ManifestFile {
    if !isCopy { return try ManifestFile(at: realPath) }
    do throws(Errno) {
      let bytes =
        if let copy { copy } else { try File.readRegular(source, atMost: ManifestFile.mostBytes) }
      return ManifestFile(
        bytes: bytes, displayPath: source, realPath: realPath, folder: folder)
    } catch {
      throw .folder(.file(doing: "read", path: source, error))
    }
  }

  /// What its plan is compiled from; its bytes are not kept: a large manifest that did not change is
  /// only hashed. Nil where it cannot be read, which is to be told when it must be.
  func inputs(set: [String]) -> PlanInputs? {
    guard let hash = try? copy.map(Hash.planKey) ?? FileHash.planKey(source) else { return nil }
    var inputs = PlanInputs(opflowVersion: Version.text, folder: folder)
    inputs.set = set
    inputs.files = [PlanFile(path: realPath, realPath: realPath, content: hash)]
    return inputs
  }
}
