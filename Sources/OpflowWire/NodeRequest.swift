internal import OpflowBase

/// The nodes that `--on` requests in addition to the local machine.
package enum NodeRequest: Equatable, Sendable {
  /// The current allocation, or a new one with these salloc options.
  case slurm(options: [String])
  /// `user@host`, or a name from ssh's configuration.
  case ssh(host: String)
  /// A shell command that connects its standard input and output to an agent.
  case exec(command: String)

  package static let beginnings = ["local", "slurm", "ssh:", "exec:"]

  package static let words = ["local", "slurm[:OPTIONS]", "ssh:HOST,HOST", "exec:COMMAND"]

  /// `local` gives an empty list.
  package static func parse(_ word: String) throws(NodeRequestError) -> [NodeRequest] {
    let colon = word.firstIndex(of: ":")
    let transport = String(colon.map { word[..<$0] } ?? word[...])
    let rest = colon.map { String(word[word.index(after: $0)...]) }
    switch (transport, rest) {
    case ("local", let rest):
      guard rest == nil else { throw NodeRequestError("local takes no options") }
      return []
    case ("slurm", let options): return [.slurm(options: try slurmOptions(options ?? ""))]
    case ("ssh", let hosts): return try sshHosts(hosts ?? "")
    case ("exec", let command):
      guard let command, command.utf8.contains(where: { $0 > 0x20 }) else {
        throw NodeRequestError("exec needs a command, such as exec:'ssh HOST opflow agent'")
      }
      return [.exec(command: command)]
    default:
      let known = ["local", "slurm", "ssh", "exec"]
      let nearest = NearestName.of(transport, among: known).map { "; did you mean \($0)?" } ?? ""
      throw NodeRequestError(
        "NODES must be one of \(words.joined(separator: ", ")), not `\(CleanText.string(word))`"
          + nearest
      )
    }
  }

  package var text: String {
    switch self {
    case .slurm(let options):
      options.isEmpty
        ? "slurm" : "slurm:\(options.map { QuotedWords.quoted($0) }.joined(separator: " "))"
    case .ssh(let host): "ssh:\(host)"
    case .exec(let command): "exec:\(command)"
    }
  }

  private static func slurmOptions(_ text: String) throws(NodeRequestError) -> [String] {
    let options: [String]
    do throws(QuotedWords.Failure) {
      options = try QuotedWords.split(text)
    } catch {
      throw NodeRequestError("slurm: \(error.detail) in `\(CleanText.string(text))`")
    }
    // salloc would run a word before the options as a program.
    if let first = options.first, !first.utf8.starts(with: [UInt8(ascii: "-")]) {
      throw NodeRequestError(
        "slurm: options start with a dash, as in 'slurm:-N 4 -t 12:00:00', not"
          + " `\(CleanText.string(first))`")
    }
    return options
  }

  private static func sshHosts(_ text: String) throws(NodeRequestError) -> [NodeRequest] {
    var requests: [NodeRequest] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let host = String(part)
      if host.isEmpty { throw NodeRequestError("ssh needs a host, such as ssh:HOST,HOST") }
      // ssh would take a leading dash as an option.
      guard host.utf8.first != UInt8(ascii: "-"), host.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
      else { throw NodeRequestError("ssh: `\(CleanText.string(host))` is not a valid host name") }
      if requests.contains(.ssh(host: host)) {
        throw NodeRequestError("ssh: `\(CleanText.string(host))` occurs twice")
      }
      requests.append(.ssh(host: host))
    }
    return requests
  }
}

package struct NodeRequestError: Error, Equatable, Sendable {
  package let message: String

  init(_ message: String) { self.message = message }
}
