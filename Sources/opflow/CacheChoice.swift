internal import OpflowBase
import OpflowCommandLine
import OpflowRuntime
import OpflowSystem
internal import OpflowWorker

enum CacheChoice {
  private static let variable = "OPFLOW_CACHE"
  private static let limitVariable = "OPFLOW_CACHE_SIZE"

  static func setting(_ arguments: Invocation) throws(CommandError) -> CacheSetting? {
    if !arguments.usesCache { return nil }
    let limit = try limitBytes()
    let named = arguments.cache ?? Environment.value(variable).flatMap { $0.isEmpty ? nil : $0 }
    guard let named else { return .own(limitBytes: limit) }
    return .shared(
      path: try absolute(named), mayWrite: arguments.writesCache, limitBytes: limit)
  }

  private static func absolute(_ path: String) throws(CommandError) -> String {
    if path.hasPrefix("/") { return path }
    do throws(Errno) {
      return try Path.workingDirectory() + "/" + path
    } catch {
      throw CommandError(.io, "cannot tell where \(CleanText.string(path)) is", error)
    }
  }

  private static func limitBytes() throws(CommandError) -> Int64 {
    guard let text = Environment.value(limitVariable), !text.isEmpty else {
      return CacheSetting.standardLimitBytes
    }
    let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    let units: [Substring: Int64] = [
      "": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40,
    ]
    guard let number = Field.number(digits, as: Int64.self),
      let unit = units[text.dropFirst(digits.count)],
      case let (bytes, isTooMuch) = number.multipliedReportingOverflow(by: unit), !isTooMuch
    else {
      throw CommandError(
        .usage,
        "\(limitVariable) is a size such as 500M or 20G, not `\(CleanText.string(text))`")
    }
    return bytes
  }
}
