import Foundation

/// The program under test.
enum Program {
  /// What OPFLOW_BINARY names, else the program that was built along with these tests.
  static let path: String = {
    if let chosen = ProcessInfo.processInfo.environment["OPFLOW_BINARY"], !chosen.isEmpty {
      return URL(fileURLWithPath: chosen).path
    }
    let runner = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return URL(fileURLWithPath: runner ?? ".build/debug/tests").deletingLastPathComponent()
      .appendingPathComponent("opflow").path
  }()

  /// The folder of the package: the one above `Tests`.
  static let package = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path

  /// A browser for tests; nil if none is installed.
  static let browser = ["chromium", "chromium-browser", "google-chrome"].lazy.compactMap {
    name -> String? in
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
      .map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }.first
}

/// Something the harness itself could not do; never the verdict on opflow.
struct HarnessFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }

  static func errno(_ detail: String, _ number: Int32 = Glibc.errno) -> HarnessFailure {
    HarnessFailure("\(detail): \(String(cString: strerror(number)))")
  }
}
