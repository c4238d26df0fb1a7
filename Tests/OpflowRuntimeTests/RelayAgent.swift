import Foundation
import OpflowCore
import OpflowSystem

@testable import OpflowRuntime

/// The far end of a stream: starts real workers of a run and passes on what they say, on a thread of its
/// own. It is the least that an agent can be.
final class RelayAgent: @unchecked Sendable {
  enum Answer {
    case pass
    /// The worker is killed, and its line is lost.
    case kill
    /// The stream breaks, and the line is lost.
    case breakOff
  }

  private struct Worker: ~Copyable {
    let process: SpawnedProcess
    let orders: Descriptor
    let reports: Descriptor
    var line: [UInt8] = []
  }

  private let folder: String
  private let run: String
  /// What workers say that their machine is.
  private let host: String
  private let answer: (String) -> Answer
  private var ordersEnd: Descriptor?
  private var reportsEnd: Descriptor?
  private var workers: [Int32: Box] = [:]
  private var order: [UInt8] = []
  private var isBroken = false
  /// How many workers it has started; for when it has ended.
  private(set) var launched = 0
  private let ended = DispatchSemaphore(value: 0)

  private final class Box {
    var worker: Worker
    init(_ worker: consuming Worker) { self.worker = worker }
  }

  /// - Parameter answer: what to do with a line of a worker.
  init(
    folder: String, run: String, host: String, orders: consuming Descriptor,
    reports: consuming Descriptor, answer: @escaping (String) -> Answer
  ) {
    self.folder = folder
    self.run = run
    self.host = host
    self.answer = answer
    ordersEnd = consume orders
    reportsEnd = consume reports
  }

  func start() {
    Thread { [self] in
      do {
        try work()
      } catch {
        FileHandle.standardError.write(Data("the agent failed: \(error)\n".utf8))
      }
      ended.signal()
    }.start()
  }

  /// Waits until it has left; only hangs take longer.
  func wait() -> Bool { ended.wait(timeout: .now() + 60) == .success }

  private func work() throws {
    var poller = try Poller()
    try poller.add(ordersEnd?.rawValue ?? -1, token: 0)
    var events: [PollEvent] = []
    defer {
      ordersEnd = nil
      reportsEnd = nil
      for number in Array(workers.keys) { try? bury(number) }
    }
    while !isBroken {
      try poller.wait(timeout: nil, into: &events)
      for event in events where !isBroken {
        if event.token == 0 {
          guard try takeOrders(&poller) else { return }
        } else if let box = workers[Int32(event.token - 1)] {
          try relay(Int32(event.token - 1), box)
        }
      }
    }
  }

  private func takeOrders(_ poller: inout Poller) throws -> Bool {
    guard let bytes = try read(ordersEnd?.rawValue ?? -1) else { return false }
    order += bytes
    while let end = order.firstIndex(of: 10) {
      let line = String(decoding: order[..<end], as: UTF8.self)
      order.removeSubrange(...end)
      let words = line.split(separator: "\t", maxSplits: 1).map(String.init)
      switch words[0] {
      case "launch":
        let parts = words[1].split(separator: "\t")
        guard let number = Int32(parts[0]) else { throw Errno.invalid }
        try launch(number, &poller)
      case "kill":
        guard let number = Int32(words[1]) else { throw Errno.invalid }
        workers[number]?.worker.process.kill()
      default:
        guard let number = Int32(words[0]) else { throw Errno.invalid }
        try? workers[number]?.worker.orders.writeAll(words[1] + "\n")
      }
    }
    return true
  }

  private func launch(_ number: Int32, _ poller: inout Poller) throws {
    let orders = try OpflowSystem.Pipe()
    let reports = try OpflowSystem.Pipe()
    let process = try Program.spawn(
      WorkerHarness.program, arguments: ["worker", folder, run], input: orders.read.rawValue,
      output: reports.write.rawValue, error: 2, options: .newSession)
    let box = Box(
      Worker(process: process, orders: orders.takeWrite(), reports: reports.takeRead()))
    workers[number] = box
    launched += 1
    try poller.add(box.worker.reports.rawValue, token: UInt64(number) + 1)
  }

  private func relay(_ number: Int32, _ box: Box) throws {
    guard let bytes = try read(box.worker.reports.rawValue) else {
      try bury(number)
      try say("gone\t\(number)\tit was lost far away\n")
      return
    }
    box.worker.line += bytes
    while let end = box.worker.line.firstIndex(of: 10) {
      var line = String(decoding: box.worker.line[..<end], as: UTF8.self)
      box.worker.line.removeSubrange(...end)
      if let place = line.range(of: "\thost=") { line = line[..<place.upperBound] + host }
      switch answer(line) {
      case .pass: try say("\(number)\t\(line)\n")
      case .kill:
        box.worker.process.kill()
        box.worker.line = []
      case .breakOff: isBroken = true
      }
      if isBroken { return }
    }
  }

  /// Ends a worker and what it left.
  private func bury(_ number: Int32) throws {
    guard let box = workers.removeValue(forKey: number) else { return }
    box.worker.process.kill()
    _ = try box.worker.process.wait()
    _ = Orphans.endAdopted(sparing: Set(workers.values.map { $0.worker.process.pid }))
  }

  private func say(_ text: String) throws {
    // The coordinator may have closed its end.
    try? reportsEnd?.writeAll(text)
  }

  private func read(_ rawDescriptor: Int32) throws -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = Foundation.read(rawDescriptor, &buffer, buffer.count)
    return count > 0 ? Array(buffer[..<count]) : nil
  }
}
