import Foundation

/// The proofs in a journal, read without opflow's own code.
struct JournalProof {
  /// Tasks with a success that no resume has revoked.
  private(set) var successes: Set<String> = []
  /// Tasks with a journaled failure.
  private(set) var failures: Set<String> = []
  /// The number of damaged lines, except an incomplete last one.
  private(set) var damagedLines = 0
  /// The offset after the first line.
  private(set) var firstLineEnd = 0
  private(set) var isClosed = false
  /// The fields of the first line; nil without one.
  private(set) var opening: [String: String]?
  /// The state of the last close; nil if the session was not closed.
  private(set) var closingState: String?
  /// IDs of additions that were not retracted.
  private(set) var added: [String] = []

  init(_ bytes: [UInt8]) {
    var start = 0
    while let end = bytes[start...].firstIndex(of: 10) {
      if start == 0 { firstLineEnd = end + 1 }
      take(Array(bytes[start..<end]))
      start = end + 1
    }
    // A last line without its LF counts if it is complete.
    if start < bytes.count, Self.isIntact(bytes[start...]) { take(Array(bytes[start...])) }
  }

  private mutating func take(_ line: [UInt8]) {
    guard Self.isIntact(line[...]) else {
      damagedLines += 1
      return
    }
    let fields = line.split(separator: 9, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    guard fields.count >= 5 else { return }
    isClosed = fields[3] == "close"
    closingState = isClosed ? Self.values(fields)["state"] : nil
    switch fields[3] {
    case "open": opening = opening ?? Self.values(fields)
    case "extend": added.append(Self.values(fields)["id"] ?? "")
    case "withdraw":
      let dropped = Self.all("dropped", fields)
      added.removeAll { dropped.contains($0) }
    case "success": successes.insert(fields[4])
    case "failure": failures.insert(fields[4])
    case "resume" where fields[4].isEmpty:
      // Retracted additions, and their tasks.
      let dropped = Self.all("dropped", fields)
      added.removeAll { dropped.contains($0) }
      successes.subtract(Self.all("removed", fields))
    case "resume", "start": successes.remove(fields[4])
    default: break
    }
  }

  /// Returns the values of a repeated key.
  private static func all(_ key: String, _ fields: [String]) -> [String] {
    fields.dropFirst(5).filter { $0.hasPrefix("\(key)=") }.map {
      String($0.dropFirst(key.count + 1))
    }
  }

  /// Returns the values of unrepeated keys.
  private static func values(_ fields: [String]) -> [String: String] {
    let pairs = fields.dropFirst(5).compactMap { field in
      field.firstIndex(of: "=").map {
        (String(field[..<$0]), String(field[field.index(after: $0)...]))
      }
    }
    return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
  }

  private static func isIntact(_ line: ArraySlice<UInt8>) -> Bool {
    guard line.count > 9, line[line.startIndex + 8] == 9 else { return false }
    let sum = String(checksum(line.dropFirst(9)), radix: 16)
    let stated = String(decoding: line.prefix(8), as: UTF8.self)
    return stated == String(repeating: "0", count: 8 - sum.count) + sum
  }

  /// Computes CRC-32C bit by bit, from its definition (RFC 3720, appendix B.4).
  private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    var crc = ~UInt32(0)
    for byte in bytes {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 1 ? (crc >> 1) ^ 0x82F6_3B78 : crc >> 1 }
    }
    return ~crc
  }

  /// Returns the newest run's journal; a run that died before its first write has none.
  static func newestPath(in folder: String) -> String? {
    let runs = folder + "/.opflow/runs"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: runs)) ?? []
    return names.sorted().map { "\(runs)/\($0)/journal.log" }
      .last { (FileManager.default.contents(atPath: $0)?.count ?? 0) > 0 }
  }
}
