import Foundation

/// The server of DownloadTests/Server/bad_server.py, in a child process that ends with this object.
package final class BadServer: Sendable {
  /// One server for all tests: its behaviour depends on the path, and each test has its own paths.
  package static let shared = try? BadServer()

  package let port: Int
  /// 0 on a computer without IPv6.
  package let portSix: Int
  package let portTLS: Int
  /// The TLS server's self-signed certificate.
  package let certificate: String
  private let process: Process
  private let input: Foundation.Pipe
  private let output: Foundation.Pipe
  /// Serializes questions.
  private let lock = NSLock()

  enum Problem: Error { case noPorts, gone }

  package init() throws {
    let folder = NSTemporaryDirectory() + "opflow-server-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    certificate = folder + "/certificate.pem"
    let key = folder + "/key.pem"
    let openssl = Process()
    openssl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    openssl.arguments =
      ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
      + ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
      + ["-keyout", key, "-out", certificate]
    openssl.standardError = FileHandle.nullDevice
    try openssl.run()
    openssl.waitUntilExit()

    process = Process()
    input = Foundation.Pipe()
    let output = Foundation.Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../DownloadTests/Server/bad_server.py").path
    process.arguments = ["python3", "-B", script, certificate, key]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    self.output = output
    let ports = String(decoding: try Self.line(output), as: UTF8.self).split { " \n".contains($0) }
      .map { Int($0) }
    guard ports.count == 3, let plain = ports[0], let six = ports[1], let tls = ports[2] else {
      throw Problem.noPorts
    }
    (port, portSix, portTLS) = (plain, six, tls)
  }

  package func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

  package struct Seen: Decodable {
    package var path: String
    package var headers: [String: String]
    /// The number of body bytes.
    package var sent: Int
    package var connection: String
    package var proxied: Bool
  }

  /// Returns all requests so far whose paths have this prefix.
  package func log(_ prefix: String) throws -> [Seen] {
    try lock.withLock {
      try input.fileHandleForWriting.write(contentsOf: Data((prefix + "\n").utf8))
      return try JSONDecoder().decode([Seen].self, from: Self.line(output))
    }
  }

  private static func line(_ pipe: Foundation.Pipe) throws -> Data {
    var line = Data()
    while line.last != 10 {
      let more = pipe.fileHandleForReading.availableData
      if more.isEmpty { throw Problem.gone }
      line += more
    }
    return line
  }
}

/// The bytes that the server generates for a size and a seed.
package enum Payload {
  private static let base = (0..<65536).map { UInt8(truncatingIfNeeded: $0 * 7 + ($0 >> 8) * 13) }

  package static func bytes(_ size: Int, seed: Int) -> [UInt8] {
    let pattern = base.map { $0 &+ UInt8(truncatingIfNeeded: seed * 31) }
    var result: [UInt8] = []
    var block = 0
    while result.count < size {
      let shift = (block * 5 + seed) & 255
      result += pattern[shift...] + pattern[..<shift]
      block += 1
    }
    return Array(result.prefix(size))
  }
}
