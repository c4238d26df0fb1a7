internal import OpflowCore
internal import OpflowSystem

/// What a command prints that looks whether a service is ready, of which the end is kept: nobody is to see
/// that of each look.
struct ProbeOutput: ~Copyable {
  private let command: String
  private let pipe: Descriptor
  /// What the command before it printed last.
  private let earlier: [UInt8]
  /// Nil where there are no secrets.
  private var masker: Masker?
  private var tail: [UInt8] = []

  private static let mostBytes = 4096
  private static let mostLines = 10
  /// Read in one go: who prints without an end is not to keep the worker from all else.
  private static let mostChunks = 16

  /// - Parameters:
  ///   - words: the command, which is about to start.
  ///   - written: what it writes to.
  ///   - earlier: what the same command printed last before; taken for its own while it prints nothing.
  init(
    of words: [String], _ written: borrowing Pipe, _ masker: Masker?, earlier: [UInt8]
  ) throws(Errno) {
    self.earlier = earlier
    command = words.joined(separator: " ")
    self.masker = masker
    pipe = try File.open("/proc/self/fd/\(written.read.rawValue)", [.readOnly, .nonblocking])
  }

  var rawDescriptor: Int32 { pipe.rawValue }

  /// Reads what is there. False when there is nobody left who could write more.
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
          // Before anything is cut off.
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

  /// The last lines, below one that tells whose they are; empty where it printed nothing.
  mutating func takeLastLines() -> [UInt8] {
    var text: [UInt8] = []
    masker?.finish { text += $0 }
    masker = nil
    keep(text)
    let lines = LastLines.of(tail, count: Self.mostLines)
    return lines.isEmpty ? earlier : Array("`\(command)` printed last:\n".utf8) + lines
  }
}
