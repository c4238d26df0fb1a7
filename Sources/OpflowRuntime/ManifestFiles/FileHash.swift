internal import OpflowCore
internal import OpflowSystem

/// The hash of a file by which plans know what they were compiled from.
enum FileHash {
  /// Small enough to stay in the processor's cache from the read to the hash.
  private static let pieceBytes = 128 << 10

  /// Reads it piece by piece: memory for all of a large file takes longer than its hash.
  static func planKey(_ path: String) throws(Errno) -> PlanKey {
    try planKey(of: File.openRegular(path, .readOnly, followsLink: true))
  }

  static func planKey(of file: consuming Descriptor) throws(Errno) -> PlanKey {
    var piece = [UInt8](repeating: 0, count: pieceBytes)
    guard let hash = PieceHash() else { throw .noMemory }
    while true {
      let count = try piece.withUnsafeMutableBufferPointer { room throws(Errno) -> Int in
        try file.read(into: UnsafeMutableRawBufferPointer(room))
      }
      if count == 0 { return hash.planKey }
      piece.withUnsafeBytes { hash.add(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
  }
}
