internal import OpflowBase
internal import OpflowSystem

/// The end of a readiness command's output. The rest is dropped, since the command runs repeatedly.
struct ProbeOutput: ~Copyable {
  private let command: String
  private let pipe: Descriptor
  /// Of the command's previous run.
  private let earlier: [UInt8]
  private var masker: Masker?
  private var tail: [UInt8] = []

  private static let mostBytes = 4096
  private static let mostLines = 10
  /// So that endless output does not block the worker.
  private static let mostChunks = 16

  /// The command `words` is about to start. `earlier` is used if this run prints nothing.
  init(
    of words: [String], _ written: borrowing Pipe, _ masker: Masker?, earlier: [UInt8]
  ) throws(Errno) {
    self.earlier = earlier
    command = words.joined(separator: " ")
    self.masker = masker
    pipe = try File.open("/proc/self/fd/\(written.read.rawValue)", [.readOnly, .nonblocking])
  }

  var rawDescriptor: Int32 { pipe.rawValue }

  /// False if all writers have closed the pipe.
  mutating func take() -> Bool {
    var chunk = [UInt8](repeating: 0, count: Self.mostBytes)
    for _ in 0..<Self.mostChunks {
      do throws(Errno) {
        let count = try chunk.withUnsafeMutableBufferPointer { room throws(Errno) -> Int in
          try pipe.read(into: UnsafeMutableRawBufferPointer(room))
        }
        if count == 0 { return false }
        var text: [UInt8] = []
        chunk.withUnsafeBytes { chunk in
          let bytes = UnsafeRawBufferPointer(rebasing: chunk[..<count])
          // Mask before anything is cut off.
          if masker == nil { text += bytes } else { masker?.mask(bytes) { text += $0 } }
        }
        keep(text)
      } catch {
        return error == .wouldBlock
      }
    }
    return true
  }

  private mutating func keep(_ text: [UInt8]) {
    tail = Array((tail + text).suffix(Self.mostBytes))
  }

  /// With a header that names the command; the earlier output if this run printed nothing.
  mutating func takeLastLines() -> [UInt8] {
    var text: [UInt8] = []
    masker?.finish { text += $0 }
    masker = nil
    keep(text)
    let lines = LastLines.of(tail, count: Self.mostLines)
    return lines.isEmpty ? earlier : Array("`\(command)` printed last:\n".utf8) + lines
  }
}
