import Foundation
import Glibc
import Testing

/// A project's folder that machines see through a network's file system, each by a mount of its
/// own: sshfs, which remembers for some seconds what was not there, as NFS does. A machine is a
/// name of its own and a view of the folder, at its path.
///
/// Opening a file and listing a folder ask the server again, as NFS does.
/// Names that were not there are remembered. Locks do not leave a machine, nor do FIFOs.
final class NetworkMount {
  /// Sees the folder itself, as the file server does.
  let place: Workplace
  private let folder: String
  private var mounted: [String] = []

  /// So long a machine remembers, in seconds.
  static let memory = 3

  /// Nil where it may be tried.
  static let obstacle: String? = {
    if geteuid() != 0 { return "only root may mount" }
    if access("/dev/fuse", R_OK | W_OK) != 0 { return "there is no /dev/fuse" }
    if server == nil { return "there is no sftp-server (Debian: openssh-sftp-server)" }
    let trial = try? Launch(
      program: "/bin/sh", arguments: ["-c", "sshfs --version && unshare -m -u true"],
      environment: environment, folder: "/tmp"
    ).start().finish()
    return trial?.status == 0 ? nil : "there is no sshfs (Debian: sshfs), or no namespaces"
  }()

  private static let server = [
    "/usr/lib/openssh/sftp-server", "/usr/libexec/openssh/sftp-server", "/usr/lib/ssh/sftp-server",
  ].first { FileManager.default.isExecutableFile(atPath: $0) }

  private static let environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]

  /// - Parameter machines: their names.
  init(_ manifest: String? = nil, machines: [String] = ["n1", "n2"]) throws {
    folder = "/tmp/opflow-mount-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    place = try Workplace(manifest, in: folder)
    for machine in machines { try mount(machine) }
  }

  deinit {
    for view in mounted { _ = try? sh("umount -l \(view)", status: nil) }
    _ = try? FileManager.default.removeItem(atPath: folder)
  }

  private func mount(_ machine: String) throws {
    let view = "\(folder)/\(machine)"
    let options = "dir_cache=no,attr_timeout=0,entry_timeout=0,negative_timeout=\(Self.memory)"
    // Instead of ssh, which would start the same program behind a connection.
    try sh(
      """
      mkdir \(view)
      printf '#!/bin/sh\\ncd \(place.path)\\nexec \(Self.server ?? "")\\n' > \(view).server
      chmod 755 \(view).server
      sshfs -o ssh_command=\(view).server,\(options) server: \(view)
      """)
    mounted.append(view)
  }

  @discardableResult
  private func sh(_ command: String, status: Int32? = 0) throws -> String {
    let end = try Launch(
      program: "/bin/sh", arguments: ["-ec", command], environment: Self.environment, folder: "/tmp"
    ).start().finish()
    if let status, end.status != status { throw HarnessFailure("\(command): \(end)") }
    return end.output
  }

  /// The words of a shell before a command that runs on that machine, in the project's folder; none
  /// for the file server.
  func on(_ machine: String?) -> String {
    guard let machine else { return "" }
    let prepare = "hostname \(machine); mount --bind \(folder)/\(machine) \(place.path)"
    return "unshare -m -u sh -ec '\(prepare); cd \(place.path); exec \"$@\"' - "
  }

  /// A value of `--on`, to be put in double quotes, for an agent on that machine.
  func agent(_ machine: String?) -> String {
    "exec:exec \(on(machine))$opflow agent".replacingOccurrences(of: "\"", with: "\\\"")
      .replacingOccurrences(of: "$@", with: "\\$@")
  }

  /// Runs opflow on a machine to its end.
  ///
  /// - Parameter agents: the machines that it is given.
  @discardableResult
  func opflow(
    _ words: String, on machine: String?, agents: [String?] = [], status: Int32? = 0,
    environment: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Finished {
    try place.shell(
      command(words, machine, agents), status: status, environment: environment,
      sourceLocation: sourceLocation)
  }

  /// The same, without a wait for the end.
  func start(_ words: String, on machine: String?, agents: [String?] = []) throws -> LiveProcess {
    try place.startShell("exec " + command(words, machine, agents))
  }

  private func command(_ words: String, _ machine: String?, _ agents: [String?]) -> String {
    let nodes = agents.map { " --on \"\(agent($0))\"" }.joined()
    return "\(on(machine))$opflow \(words)\(nodes)"
  }

  /// Where a process of any machine finds what another one sees.
  func view(of machine: String) -> String { "\(folder)/\(machine)" }

  /// Has a machine look for something that is not there, and so remember that.
  func miss(_ path: String, on machine: String) throws {
    try place.shell("\(on(machine))sh -c '! test -e \(path)'")
  }

  /// The process that connects a machine to the file server: while it is stopped, the machine's
  /// file system hangs.
  func link(of machine: String) throws -> pid_t {
    let pids = try sh("pgrep -f ' \(folder)/\(machine)$'").split(separator: "\n")
    return try #require(pids.first.flatMap { pid_t($0) })
  }
}

extension Trait where Self == ConditionTrait {
  /// What takes some seconds a test, since it waits for what machines remember.
  static var whereMountsAre: ConditionTrait {
    .enabled(
      if: SlurmCluster.extent == "all" && NetworkMount.obstacle == nil,
      """
      \(SlurmCluster.extent == "all"
        ? NetworkMount.obstacle ?? "" : "scripts/smoke-cluster --all tries it")
      """
    )
  }
}
