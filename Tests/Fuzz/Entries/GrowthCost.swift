import Glibc
import OpflowBase
import OpflowManifest

/// The cost of compiling a manifest.
package struct GrowthCost: Sendable {
  /// The size of all files, plus a share for each generated task.
  package var size: Int
  /// The size of the plan; 0 if the manifest is invalid.
  package var planBytes: Int
  /// Processor time.
  package var nanoseconds: Int

  private static let bytesOfTask = 64

  /// Compiles a manifest with several growing parts.
  package static func of(_ growths: [ManifestGrowth], count: Int) -> GrowthCost {
    let parts = growths.map { $0.part(count) }
    let text = manifest(parts, count: count)
    let files = parts.reduce(into: [:]) { $0.merge($1.files) { first, _ in first } }
    var options = FuzzManifest.options
    options.readFile = { (path, _, _) throws(NamedFileFault) in
      let name = String(path.dropFirst("/data/".count))
      guard let text = files[name] else { throw .missing }
      return NamedFile(
        bytes: Array(text.utf8), realPath: path,
        number: FileNumber(device: 1, inode: Hash.xxh3(Array(name.utf8))))
    }
    let source = Array(text.utf8).withUnsafeBytes { FuzzManifest.source($0) }
    let start = processorNanoseconds
    let plan = try? ManifestCompiler.compile(source, options: options)
    let end = processorNanoseconds
    return GrowthCost(
      size: text.utf8.count + files.reduce(0) { $0 + $1.value.utf8.count }
        + (plan?.taskCount ?? 0) * bytesOfTask,
      planBytes: plan?.planBytes.count ?? 0, nanoseconds: end - start)
  }

  private static func manifest(_ parts: [ManifestGrowth.Part], count: Int) -> String {
    let defaults = parts.map(\.defaults).filter { !$0.isEmpty }.joined(separator: ", ")
    let one = parts.map(\.one).filter { !$0.isEmpty }
    let isScript = one.contains { $0.hasPrefix("script: ") }
    let own = one.map { $0.hasPrefix("script: ") ? "run: " + $0.dropFirst("script: ".count) : $0 }
    var text = parts.map(\.top).joined()
    if !defaults.isEmpty { text += "defaults: { \(defaults) }\n" }
    text += "tasks:\n  a:\n"
    for line in own { text += "    \(line)\n" }
    if !isScript, !one.contains(where: { $0.hasPrefix("run: ") }) { text += "    run: x\n" }
    if one.contains(where: { $0.hasPrefix("needs: ") }) {
      for number in 0..<count { text += "  n\(number): { run: x }\n" }
    }
    text += parts.map(\.tasks).joined()
    let each = parts.compactMap(\.each)
    if each.isEmpty { return text }
    for number in 0..<count {
      let keys = (["run: x"] + each.filter { !$0.isEmpty }).joined(separator: ", ")
      text += "  t\(number): { \(keys.replacing("#", with: "\(number)")) }\n"
    }
    return text
  }

  private static var processorNanoseconds: Int {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}

/// Compares the costs of two manifests, of which one has four times the size, to find costs that
/// grow faster than the manifest.
package enum GrowthCheck {
  /// The permitted excess factors; quadratic growth has 4.
  private static let mostBytes = 2.0
  private static let mostTime = 2.2
  /// Lower costs are not compared.
  private static let littleBytes = 1 << 20
  private static let littleNanoseconds = 30_000_000
  /// Other load disturbs the time, so one good measurement is enough.
  private static let tries = 5

  /// - Throws: the cost that grows faster.
  package static func check(_ growths: [ManifestGrowth], count: Int) throws(FuzzFinding) {
    var finding: FuzzFinding?
    for _ in 0..<tries {
      let (small, large) = (
        GrowthCost.of(growths, count: count), GrowthCost.of(growths, count: count * 4)
      )
      finding = compare(small, large, growths, count)
      guard finding != nil else { return }
    }
    if let finding { throw finding }
  }

  private static func compare(
    _ small: GrowthCost, _ large: GrowthCost, _ growths: [ManifestGrowth], _ count: Int
  ) -> FuzzFinding? {
    let factor = Double(large.size) / Double(small.size)
    func finding(_ detail: String, _ less: Int, _ more: Int, _ unit: String) -> FuzzFinding {
      let names = growths.map(\.description).joined(separator: " with ")
      return FuzzFinding(
        "\(detail) grows faster than the manifest: \(names), \(count) and \(count * 4) of it:"
          + " \(small.size) and \(large.size) bytes take \(less) and \(more) \(unit)")
    }
    if large.planBytes > littleBytes, small.planBytes > 0,
      Double(large.planBytes) > Double(small.planBytes) * factor * mostBytes
    {
      return finding("the plan", small.planBytes, large.planBytes, "bytes of plan")
    }
    if large.nanoseconds > littleNanoseconds,
      Double(large.nanoseconds) > Double(small.nanoseconds) * factor * mostTime
    {
      return finding("the time", small.nanoseconds / 1000, large.nanoseconds / 1000, "us")
    }
    return nil
  }
}
