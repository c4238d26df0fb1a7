import Foundation
import Glibc

/// The answers to clients' requests.
final class RequestAnswers: @unchecked Sendable {
  private let lock = NSCondition()
  private var answers: [String: [String]] = [:]
  private var asked = 0
  private var hasEnded = false
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  /// Returns false if no further request may be sent.
  func begin() -> Bool {
    lock.withLock {
      guard asked < limit, !hasEnded else { return false }
      asked += 1
      return true
    }
  }

  func end() {
    lock.withLock {
      hasEnded = true
      lock.broadcast()
    }
  }

  /// Waits for a time, or until the drill ends.
  func rest(milliseconds: Int) {
    lock.withLock {
      let end = Date(timeIntervalSinceNow: Double(milliseconds) / 1000)
      while !hasEnded, lock.wait(until: end) {}
    }
  }

  var isOver: Bool { lock.withLock { hasEnded } }
  var isDone: Bool { lock.withLock { asked >= limit } }
  func add(_ id: String, _ answer: String) {
    lock.withLock { answers[id, default: []].append(answer) }
  }
  var all: [String: [String]] { lock.withLock { answers } }
}

/// Sends random requests to a live run, one after the other. Repeats unanswered requests, and
/// sometimes answered ones.
struct RequestClient: Sendable {
  let number: Int
  /// The open folder of the run.
  let folder: Int32
  let plan: String
  let tasks: Int
  let answers: RequestAnswers

  func run(seed: UInt64) {
    var random = DrillNumbers(seed: seed)
    var count = 0
    while answers.begin() {
      count += 1
      let id = "c\(number).\(count)"
      let line = request(id, &random)
      while !answers.isOver {
        guard let answer = ask(line) else {
          // The run is dead or starting.
          answers.rest(milliseconds: 20)
          continue
        }
        answers.add(id, answer)
        if random.below(10) == 0, let again = ask(line) { answers.add(id, again) }
        break
      }
      answers.rest(milliseconds: random.below(20))
    }
  }

  private static let verbs = [
    "cancel", "pause", "continue", "continue", "suspend", "suspend", "priority", "parallel",
    "retry", "retry", "skip", "approve", "approve", "reject",
  ]

  private func request(_ id: String, _ random: inout DrillNumbers) -> String {
    let verb = Self.verbs[random.below(Self.verbs.count)]
    var fields = ["order", id, verb, "plan=\(plan)"]
    switch verb {
    case "pause": break
    case "parallel":
      let isCPU = random.below(2) == 0
      fields += [
        "resource=\(isCPU ? "cpu" : "db")", "value=\((1 + random.below(8)) * (isCPU ? 1 : 1000))",
      ]
    case "continue" where random.below(2) == 0: break
    case "continue": fields.append("among=0-\(tasks - 1)")
    default:
      let count = [1, 1, 3, 20][random.below(4)]
      let chosen = Set((0..<count).map { _ in random.below(tasks) }).sorted()
      let numbers = chosen.map { "\($0)" }.joined(separator: ",")
      fields.append("\(random.below(3) == 0 ? "tasks" : "among")=\(numbers)")
      if verb == "priority" { fields.append("value=\(random.below(11) - 5)") }
    }
    return fields.joined(separator: "\t") + "\n"
  }

  /// Returns the answer without its LF, or nil.
  func ask(_ line: String) -> String? {
    guard let socket = Self.connection(to: folder) else { return nil }
    defer { close(socket) }
    let bytes = Array(line.utf8)
    guard send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else { return nil }
    var answer: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while answer.last != 10 {
      let count = recv(socket, &piece, piece.count, 0)
      if count <= 0 { return nil }
      answer += piece[..<count]
    }
    return String(decoding: answer.dropLast(), as: UTF8.self)
  }

  /// Connects to a run's request socket, or returns nil. The caller closes it.
  ///
  /// - Parameter folder: the open folder of the run.
  static func connection(to folder: Int32) -> Int32? {
    let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { return nil }
    var limit = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let path = Array("/proc/self/fd/\(folder)/control.sock".utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
    let isConnected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    if isConnected { return socket }
    close(socket)
    return nil
  }
}
