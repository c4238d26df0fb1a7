package import OpflowBase

/// The key of a cached result: everything that it may depend on, with the task's name, which
/// commands can read, but without the project's folder.
package enum CacheKey {
  /// - Parameters:
  ///   - seen: the inputs before the start, by `ContentHash.strong`.
  ///   - keepsValues: other tasks read its values.
  package static func of(
    _ seen: SuccessRecord, name: UnsafeRawBufferPointer, keepsValues: Bool, architecture: String
  ) -> SHA256.Digest {
    let hash = SHA256()
    func add(_ bytes: [UInt8]) { bytes.withUnsafeBytes { hash.add($0) } }
    // The length keeps different lists apart.
    func add(_ text: some Collection<UInt8>) {
      add(UInt64(text.count))
      add(Array(text))
    }
    func add(_ number: UInt64) { withUnsafeBytes(of: number.littleEndian) { hash.add($0) } }
    func add(_ content: PlanKey) {
      add(content.high)
      add(content.low)
    }
    // Not of entries that lack the targets of links.
    add("opflow cache \(CacheEntry.version) with targets".utf8)
    add(architecture.utf8)
    add(name)
    add(keepsValues ? 1 : 0)
    add(seen.terms.fingerprint)
    add(seen.terms.declaration)
    add(seen.terms.with == nil ? 0 : 1)
    add(seen.terms.with ?? 0)
    add(seen.terms.needs)
    for files in [seen.inputs, seen.links] {
      add(UInt64(files.count))
      for file in files {
        add(file.path)
        add(UInt64(file.kind.rawValue))
        add(file.content)
      }
    }
    add(UInt64(seen.readings.count))
    for reading in seen.readings {
      add(UInt64(reading.kind.rawValue))
      add(reading.name)
      add(reading.content)
    }
    return hash.digest
  }

  package static var architecture: String {
    #if arch(x86_64)
      "x86_64"
    #elseif arch(arm64)
      "arm64"
    #else
      "other"
    #endif
  }
}
