import Foundation
import Testing

/// A real cluster of Slurm on this machine, of three nodes with four processors each, that
/// `scripts/cluster` starts for a suite.
final class SlurmCluster: Sendable {
  /// That of the suite that runs.
  @TaskLocal static var current: SlurmCluster?

  let folder: String

  /// What of it is to be tried: `scripts/smoke-cluster` says so, since these tests are alone with
  /// their machine.
  static let extent = ProcessInfo.processInfo.environment["OPFLOW_CLUSTER"]

  /// Numbers of random strikes, as `scripts/smoke-cluster --strikes COUNT [FIRST]` wants them.
  static let strikes: Range<UInt64> = {
    let words = (ProcessInfo.processInfo.environment["OPFLOW_STRIKES"] ?? "").split(separator: " ")
    let numbers = words.compactMap { UInt64($0) }
    guard let count = numbers.first, count < 1 << 20 else { return 0..<0 }
    let first = numbers.count > 1 ? numbers[1] : 1
    return first..<(first &+ count)
  }()

  static let isPossible: Bool = {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return ["srun", "slurmctld", "slurmd", "munged"].allSatisfy { name in
      (folders + ["/usr/sbin", "/sbin"]).contains {
        FileManager.default.isExecutableFile(atPath: "\($0)/\(name)")
      }
    }
  }()

  /// Whether nodes may have networks of their own here.
  static let mayHaveNetworks: Bool = {
    let trial = try? Launch(
      program: "/bin/sh",
      arguments: ["-c", "unshare --net ip link add opftrial type bridge && command -v nsenter"],
      environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"], folder: "/tmp"
    ).start().finish()
    return trial?.status == 0
  }()

  init(options: [String: String] = [:]) throws {
    // A socket's path has room for little.
    folder = "/tmp/opflow-cluster-\(UUID().uuidString.prefix(8))"
    try run("start", folder, environment: options)
  }

  /// Takes the network of a node away.
  func cut(_ node: String) throws { try run("cut", folder, node) }

  /// Starts again what was killed of it, and gives back what was taken away.
  func mend() throws { try run("start", folder) }

  func stop() throws {
    try run("stop", folder)
    try FileManager.default.removeItem(atPath: folder)
  }

  private func run(_ arguments: String..., environment: [String: String] = [:]) throws {
    var all = ProcessInfo.processInfo.environment
    all.merge(environment) { $1 }
    let cluster = try Launch(
      program: Program.package + "/scripts/cluster", arguments: arguments, environment: all,
      folder: "/tmp"
    ).start().finish()
    guard cluster.status == 0 else { throw HarnessFailure("scripts/cluster: \(cluster)") }
  }

  /// What Slurm's programs need to find it.
  var environment: [String: String] { ["SLURM_CONF": folder + "/slurm.conf"] }

  /// The process of a daemon, such as `slurmctld` or `n1`.
  func pid(of daemon: String) throws -> pid_t {
    let text = try String(contentsOfFile: "\(folder)/run/\(daemon).pid", encoding: .utf8)
    return try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
  }
}

/// Starts a cluster before the first test of a suite, and stops it behind the last one.
struct OnSlurmCluster: SuiteTrait, TestScoping {
  /// Of each node.
  var gpus = 0
  /// Each node has a network of its own.
  var networks = false

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let cluster = try SlurmCluster(
      options: ["CLUSTER_GPUS": "\(gpus)", "CLUSTER_NETWORKS": networks ? "1" : ""])
    do {
      try await SlurmCluster.$current.withValue(cluster) { try await function() }
    } catch {
      try cluster.stop()
      throw error
    }
    try cluster.stop()
  }
}

extension Trait where Self == OnSlurmCluster {
  static var onSlurmCluster: OnSlurmCluster { OnSlurmCluster() }
  static func onSlurmCluster(gpus: Int = 0, networks: Bool = false) -> OnSlurmCluster {
    OnSlurmCluster(gpus: gpus, networks: networks)
  }
}

extension Trait where Self == ConditionTrait {
  static var whereSlurmIs: ConditionTrait {
    .enabled(
      if: SlurmCluster.isPossible && SlurmCluster.extent != nil,
      "scripts/smoke-cluster tries what wants a cluster")
  }

  static var whereNetworksAre: ConditionTrait {
    .enabled(
      if: SlurmCluster.isPossible && SlurmCluster.mayHaveNetworks,
      "nodes may have no networks of their own here")
  }

  static var whereStrikesAreWanted: ConditionTrait {
    .enabled(
      if: SlurmCluster.isPossible && !SlurmCluster.strikes.isEmpty,
      "scripts/smoke-cluster --strikes COUNT tries it")
  }

  /// What takes minutes.
  static var whereAllOfSlurmIs: ConditionTrait {
    .enabled(if: SlurmCluster.extent == "all", "scripts/smoke-cluster --all tries it")
  }
}

extension Workplace {
  /// Slurm's answer to a command, a shell's.
  func slurm(_ command: String, status: Int32? = 0) throws -> String {
    let cluster = try #require(SlurmCluster.current)
    return try shell(command, status: status, environment: cluster.environment).output
  }

  /// Waits until Slurm's queue holds nothing, of which nobody tells.
  func waitForEmptyQueue() throws {
    let limit = ContinuousClock.now + .milliseconds(LiveProcess.hangLimitMilliseconds)
    while true {
      let queue = try slurm("squeue --noheader")
      if queue.isEmpty { return }
      guard ContinuousClock.now < limit else {
        throw HarnessFailure("still in the queue: \(queue)")
      }
    }
  }
}
