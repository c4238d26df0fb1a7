import Drill
import Foundation
import OpflowPlan
import OpflowWire
import Testing

/// A behaviour of the server, and what must come of it.
struct BadCase: CustomTestStringConvertible {
  enum Outcome {
    case right
    /// The file as it is later, made from the next seed.
    case changed
    case failure
    /// No check can detect the wrong content, so the case is not tested.
    case undecidable
  }
  var name: String
  var withHash = Outcome.right
  var withoutHash = Outcome.right
  var size = 300_000
  var file = "file.bin"
  /// How much of the file may come twice, in thousandths, where a hash allows to continue, and
  /// where none does.
  var repeatedWithHash = 0
  var repeatedWithout = 0

  var testDescription: String { name }

  init(_ name: String, _ change: (inout BadCase) -> Void = { _ in }) {
    self.name = name
    change(&self)
  }

  /// The file comes again from its start: the server gives no choice.
  static func again(_ name: String, _ permille: Int = 1000) -> BadCase {
    BadCase(name) {
      $0.repeatedWithHash = permille
      $0.repeatedWithout = permille
    }
  }

  static func failing(_ name: String) -> BadCase {
    BadCase(name) {
      $0.withHash = .failure
      $0.withoutHash = .failure
    }
  }

  static let whole: [BadCase] = [
    "plain", "no_ranges", "tiny_writes", "drip_head", "chunked", "chunked_trailers",
    "chunked_and_length", "old_server", "interim_answers", "line_feeds_only", "odd_spelling",
    "longer_than_said", "whole_as_part", "non_authoritative", "gzip_unasked",
    "gzip_unasked_chunked", "gzip_unasked_half",
  ].map { BadCase($0) }

  static let odd: [BadCase] = [
    BadCase("plain") { $0.size = 0 },
    BadCase("chunked") { $0.size = 1 },
    BadCase("gzip_is_the_file") { $0.file = "file.tar.gz" },
    BadCase.again("gzip_resumed_plain"),
  ]

  static let broken: [BadCase] =
    [
      "truncated_once", "truncated_ever", "truncated_date_only", "truncated_last_byte",
      "reset_before_head", "close_before_head", "close_in_head",
      "close_after_head", "chunked_no_end", "chunked_whole_no_end", "chunked_cut_in_chunk",
      "stall_before_head", "stall_in_body",
    ].map { BadCase($0) } + [
      BadCase("truncated_no_validators") { $0.repeatedWithout = 1000 },
      BadCase("truncated_weak_etag") { $0.repeatedWithout = 1000 },
      // What the kernel had and the worker had not yet read goes with the connection.
      BadCase.again("reset_in_body", 500),
      BadCase.again("chunked_bad_size", 10),
      BadCase.failing("chunked_never_ends"),
      BadCase("old_server_cut") { $0.withoutHash = .undecidable },
    ]

  static let parts: [BadCase] =
    ["part_in_pieces", "part_star_total", "part_closes_early"].map { BadCase($0) }
    + [
      "part_ignored", "part_later", "part_other_total", "part_no_range_field",
      "part_mad_range_field", "part_multipart", "part_refused", "part_refused_no_total",
      "part_earlier_other_bytes", "part_error", "part_fails", "part_condition_refused",
      "part_refused_lying_total",
    ].map { BadCase.again($0) } + [
      BadCase.again("part_wrong_length", 2000), BadCase.again("part_called_whole", 2000),
      BadCase.again("part_called_whole_and_named", 2000),
      BadCase.again("part_earlier", 10),
      BadCase("part_too_long") { $0.repeatedWithout = 1000 },
      BadCase("part_no_version") {
        $0.withHash = .changed
        $0.withoutHash = .changed
        $0.repeatedWithHash = 2000
        $0.repeatedWithout = 2000
      },
    ]

  static let changing: [BadCase] =
    ["changed_etag", "changed_etag_ignored", "changed_date_ignored"].map {
      BadCase($0) {
        $0.withHash = .changed
        $0.withoutHash = .changed
        $0.repeatedWithHash = 2000
        $0.repeatedWithout = 2000
      }
    } + [
      BadCase("changed_silently") {
        $0.withHash = .changed
        $0.withoutHash = .changed
        $0.repeatedWithHash = 2000
        $0.repeatedWithout = 2000
      }
    ]

  static let answers: [BadCase] =
    [408, 425, 429, 500, 502, 503, 504, 520, 202].map { BadCase("once_\($0)") }
    + [400, 401, 403, 404, 407, 410, 451, 500].map { BadCase.failing("always_\($0)") }
    + ["retry_after", "retry_after_date"].map { BadCase($0) }
    + [
      "redirect_nowhere", "redirect_file", "redirect_ftp", "redirect_rubbish", "redirect_loop",
      "whole_part_refused", "no_content", "unasked_304", "unasked_part", "forbidden_long",
      "needs_password",
    ].map { BadCase.failing($0) }
    + ["no_http", "mad_length", "negative_length", "huge_head"].map { BadCase.again($0) } + [
      BadCase("two_lengths") {
        $0.withoutHash = .right
        $0.repeatedWithHash = 1000
        $0.repeatedWithout = 1000
      },
      BadCase("other_bytes") {
        $0.withHash = .failure
        $0.withoutHash = .undecidable
      },
    ]

  static let redirects: [BadCase] =
    [300, 301, 302, 303, 307, 308].map { BadCase("redirect_\($0)") }
    + [
      "redirect_absolute", "redirect_other_host", "redirect_chain", "redirect_relative",
    ].map {
      BadCase($0)
    }

  static let all = whole + odd + broken + parts + changing + answers + redirects
}

@Suite("A server that misbehaves", .timeLimit(.minutes(30)))
struct BadServerTests {
  @Test(arguments: BadCase.all)
  func `with a hash, the file is right or absent`(_ badCase: BadCase) throws {
    try badCase.check(hash: true)
  }

  @Test(arguments: BadCase.all)
  func `without a hash, the file is right or absent`(_ badCase: BadCase) throws {
    try badCase.check(hash: false)
  }
}

extension BadCase {
  /// Tries until success or five failures, and looks at what came of it.
  func check(hash: Bool) throws {
    let outcome = hash ? withHash : withoutHash
    if outcome == .undecidable { return }
    let server = try #require(BadServer.shared)
    let seed = hash ? 3 : 4
    let path = "/\(name)/\(size)/\(seed)/\(file)"
    let body = Payload.bytes(size, seed: outcome == .changed ? seed + 1 : seed)
    var spec = DownloadSpec(sources: [server.url(path)], target: file)
    if hash { spec.sha256 = sha(body) }
    let harness = try DownloadHarness(
      [spec], patienceMilliseconds: name.hasPrefix("stall") ? 300 : 30_000)
    let ends = try harness.tries()

    // Some only ever get half of it; there is nothing wrong at `to`, ever.
    let content = harness.content(file)
    #expect(content == nil || content == body, "a wrong file")
    let isSuccess = ends.last?.outcome.isSuccess == true
    #expect(isSuccess == (content != nil))
    #expect(isSuccess == (outcome != .failure), "\(ends.map(\.report.detail))")
    guard isSuccess else { return }
    #expect(ends.last?.report.sizeBytes == Int64(body.count))
    #expect(ends.last?.report.sha256 == sha(body))
    #expect(harness.content(file + ".part") == nil)
    #expect(harness.content(file + ".part.meta") == nil)

    let prefix = name.hasPrefix("redirect_") ? "/none" : path
    let sent = try server.log(prefix).reduce(0) { $0 + $1.sent }
    let repeated = hash ? repeatedWithHash : repeatedWithout
    let limit = body.count + body.count * repeated / 1000 + 8192
    #expect(sent <= limit, "bytes were fetched twice: \(sent) of \(body.count)")
  }
}
