internal import OpflowBase
internal import OpflowSystem

/// The hash by which a plan identifies its source files.
enum FileHash {
  /// Stays in the processor's cache between read and hash.
  private static let pieceBytes = 128 << 10

  /// In pieces: allocating memory for a whole large file takes longer than hashing it.
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
