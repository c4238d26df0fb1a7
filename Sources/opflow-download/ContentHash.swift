internal import CTransfer
internal import OpflowBase
internal import OpflowDownload
internal import OpflowPlan

final class ContentHash {
  // SAFETY: created in init, freed in deinit, used by this object alone.
  private let sha256: OpaquePointer?
  private let sha512: OpaquePointer?
  private(set) var byteCount: Int64 = 0

  /// Fails if libcrypto lacks memory or the algorithms.
  init?(for spec: DownloadSpec) {
    let wants512 = !spec.sha512.isEmpty
    // The journal records SHA-256 if no hash is expected.
    let wants256 = !spec.sha256.isEmpty || !wants512
    sha256 = wants256 ? ctransfer_hash_create(256) : nil
    sha512 = wants512 ? ctransfer_hash_create(512) : nil
    if (wants256 && sha256 == nil) || (wants512 && sha512 == nil) { return nil }
  }

  deinit {
    ctransfer_hash_free(sha256)
    ctransfer_hash_free(sha512)
  }

  func reset() {
    byteCount = 0
    for hash in [sha256, sha512] {
      if let hash { check(ctransfer_hash_reset(hash)) }
    }
  }

  func update(_ bytes: UnsafeRawBufferPointer) {
    byteCount += Int64(bytes.count)
    // SAFETY: reads `count` bytes of the caller's buffer.
    if let sha256 { check(ctransfer_hash_update(sha256, bytes.baseAddress, bytes.count)) }
    if let sha512 { check(ctransfer_hash_update(sha512, bytes.baseAddress, bytes.count)) }
  }

  /// Hashing may continue.
  var facts: FileFacts {
    FileFacts(sizeBytes: byteCount, sha256: text(sha256), sha512: text(sha512))
  }

  private func text(_ hash: OpaquePointer?) -> String {
    guard let hash else { return "" }
    var bytes = [UInt8](repeating: 0, count: Int(CTRANSFER_HASH_LONGEST))
    // SAFETY: the shim writes at most CTRANSFER_HASH_LONGEST bytes.
    let count = ctransfer_hash_result(hash, &bytes)
    check(count)
    var text: [UInt8] = []
    for byte in bytes.prefix(Int(count)) {
      Hexadecimal.append(UInt64(byte), digitCount: 2, to: &text)
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// SHA-2 in memory cannot fail after its start, and a wrong hash must never be used.
  private func check(_ result: Int32) {
    precondition(result >= 0, "libcrypto could not go on with a hash")
  }
}
