internal import OpflowDownload
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

/// Hashes the file at `to`, which may be the requested one or that of the last download.
final class TargetCheck {
  let hash: ContentHash
  /// nil if the manifest gives a hash.
  let last: FetchReport?
  private let spec: DownloadSpec
  private let file: Descriptor
  private var piece = [UInt8](repeating: 0, count: 256 * 1024)

  init?(_ spec: DownloadSpec, hash: ContentHash, last: FetchReport?) throws(DownloadFailure) {
    self.spec = spec
    self.hash = hash
    self.last = last
    guard let file = try? File.open(spec.target, [.readOnly, .nonblocking]),
      let status = try? file.status()
    else { return nil }
    let size = last?.sizeBytes ?? spec.sizeBytes
    guard status.kind == .file, size == nil || size == status.sizeBytes,
      TrustedWriters.own.mayKeep(status, in: Path.parent(of: spec.target))
    else { return nil }
    self.file = file
  }

  /// Returns false at the end.
  func advance() throws(DownloadFailure) -> Bool {
    do throws(Errno) {
      return try piece.withUnsafeMutableBufferPointer { piece throws(Errno) in
        let room = UnsafeMutableRawBufferPointer(piece)
        let count = try file.read(into: room)
        hash.update(UnsafeRawBufferPointer(rebasing: room[..<count]))
        return count > 0
      }
    } catch {
      throw LocalFailure.of("cannot read \(spec.target)", error)
    }
  }

  func isRight(_ facts: FileFacts) -> Bool {
    guard let last else { return spec.mismatch(facts) == nil }
    return facts.sha256 == last.sha256 && facts.sizeBytes == last.sizeBytes
  }
}
