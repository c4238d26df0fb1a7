internal import OpflowBase
internal import OpflowSystem

package enum GraphvizError: Error, Equatable, Sendable {
  case missing
  case unusable(String)

  package var isMissing: Bool { self == .missing }

  package var message: String {
    switch self {
    case .missing:
      "svg is drawn by Graphviz, and there is no `dot` in a folder of PATH: install Graphviz"
        + " (the package `graphviz`), or take `--format mermaid`, which pages of GitHub and GitLab "
        + "draw"
    case .unusable(let why): "Graphviz did not draw the graph: `dot` \(why)"
    }
  }
}

/// With a time limit, and without trust in its output.
package enum Graphviz {
  /// A large graph may take practically for ever.
  private static let patienceSeconds: Int64 = 60
  private static let mostComplaintBytes = 4096

  package static func svg(_ graph: [UInt8]) throws(GraphvizError) -> [UInt8] {
    guard let program else { throw .missing }
    let (end, drawn, complaints): (LimitedCommand.End, [UInt8], String)
    do throws(Errno) {
      (end, drawn, complaints) = try run(program, graph)
    } catch {
      throw .unusable("could not be run: \(error)")
    }
    if let fault = end.fault {
      let isTooMuch = if case .tookTooLong = end { true } else { false }
      throw .unusable(fault + (isTooMuch ? "; without -v it has less to draw" : complaints))
    }
    if drawn.isEmpty { throw .unusable("wrote nothing" + complaints) }
    return drawn
  }

  private static func run(
    _ program: String, _ graph: [UInt8]
  ) throws(Errno) -> (LimitedCommand.End, drawn: [UInt8], complaints: String) {
    // Pipes would have to be read and written concurrently.
    let input = try File.inMemory()
    try input.writeAll(graph)
    try input.seek(to: 0)
    let output = try File.inMemory()
    let complaints = try File.inMemory()
    let end = try LimitedCommand.run(
      program, arguments: ["-Tsvg"], input: input, output: output.rawValue,
      error: complaints.rawValue, patienceSeconds: patienceSeconds)
    try output.seek(to: 0)
    try complaints.seek(to: 0)
    let words = try complaints.readAll(atMost: mostComplaintBytes)
    let first = words.prefix { $0 != Field.lineFeed }
    let said = CleanText.string(String(decoding: first, as: UTF8.self))
    return (end, try output.readAll(), said.isEmpty ? "" : ": \(said)")
  }

  /// Relative folders of PATH are ignored: one could contain an untrusted program.
  private static var program: String? {
    let folders = (Environment.value("PATH") ?? "/usr/local/bin:/usr/bin:/bin").split(
      separator: ":")
    return folders.lazy.filter { $0.hasPrefix("/") }.map { "\($0)/dot" }
      .first { Path.exists($0) && !Path.isDirectory($0) }
  }
}
