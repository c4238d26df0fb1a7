import Drill
import Foundation
import OpflowPlan
import OpflowWire
import Testing

extension BadCase {
  /// Replies of Server/raw_replies.py that lead to the file.
  private static let good = [
    "status_alone", "status_blank_behind", "status_long_phrase", "status_odd_phrase", "status_old",
    "status_two_on_one", "status_small_letters", "status_unknown_success", "field_folded",
    "field_empty_name", "field_long",
    "fields_many", "field_not_text", "field_cookie", "range_of_whole", "location_of_whole",
    "encoding_none", "encoding_identity", "mixed_line_ends", "length_twice", "length_listed",
    "length_zeros", "length_blank_before_colon", "closed_by_end", "kept_alive_and_closed",
    "chunk_extension", "chunk_capitals", "chunk_zeros", "chunk_blanks", "chunk_line_feed",
    "chunk_long_extension", "chunk_end_trailers", "chunk_end_extension", "chunk_end_zeros",
    "chunk_end_line_feeds", "chunk_end_folded", "chunk_end_junk", "chunked_old", "chunked_capitals",
    "transfer_identity", "transfer_gzip", "transfer_gzip_alone", "interim_many",
    "interim_with_length",
    "gzip_two_members", "gzip_small_letters", "gzip_and_identity", "encoding_twice",
    "encoding_thrice", "deflate", "deflate_raw",
    "gzip_not_at_all",
  ]

  /// Replies without usable content.
  private static let useless = [
    "status_four_digits", "status_one_digit", "status_negative", "status_zero", "status_no_number",
    "status_too_new", "status_no_version", "status_long_version", "status_other_name", "no_head",
    "one_byte", "nothing", "blank_line_first", "field_no_colon", "field_nul", "fields_too_many",
    "field_begins_blank", "field_begins_tab", "field_blank", "field_blank_name", "field_nul_name",
    "field_too_long",
    "carriage_returns_only", "head_never_ends", "length_two", "length_negative",
    "length_hexadecimal", "length_words", "length_empty", "length_folded", "chunk_prefix",
    "chunk_negative", "chunk_words", "chunk_overflow", "chunk_too_short", "chunk_empty_size",
    "chunked_twice", "chunked_not_at_all", "transfer_unknown", "interim_only", "switching",
    "gzip_broken", "gzip_cut", "gzip_junk_behind", "deflate_broken", "encoding_twice_cut",
    "gzip_without_bound",
  ]

  /// The file comes, and only a hash can say that it is all of it: lengths that contradict each
  /// other, that are no numbers, or that promise more.
  private static let proven = [
    "length_smaller_first", "length_plus", "length_behind", "length_beyond", "length_huge",
    "chunk_and_lengths", "encoding_unknown",
  ]

  /// The file comes whole, and then the end that was promised does not.
  private static let unfinished = [
    "length_long_by_one", "chunk_end_missing", "chunk_end_half", "chunk_end_no_field",
    "chunk_end_nul",
  ]

  /// A reply that is sound in itself, of another file: what libcurl gives out is what was said.
  private static let sound = ["length_short_by_one", "length_of_nothing", "chunk_too_long"]

  private static let redirected = [
    "space", "two_slashes", "dots", "dots_inside", "query_only_host", "fragment", "not_ascii",
    "latin", "blanks_around", "capitals", "three_slashes", "one_slash", "user",
    "two_fields", "tab", "encoded_dots",
  ]

  static let raw: [BadCase] =
    good.map { BadCase("raw_" + $0) { $0.size = 3000 } }
    + useless.map {
      BadCase("raw_" + $0) {
        $0.size = 3000
        $0.withHash = .failure
        $0.withoutHash = .failure
      }
    }
    + (proven + unfinished).map {
      BadCase("raw_" + $0) {
        $0.size = 3000
        $0.withoutHash = .failure
      }
    }
    + sound.map {
      BadCase("raw_" + $0) {
        $0.size = 3000
        $0.withHash = .failure
        $0.withoutHash = .undecidable
      }
    }
    + redirected.map { BadCase("redirect_raw_" + $0) { $0.size = 3000 } }
}

@Suite("A server whose replies are odd to the byte", .timeLimit(.minutes(30)))
struct RawReplyTests {
  @Test(arguments: BadCase.raw)
  func `with a hash, the file is right or absent`(_ badCase: BadCase) throws {
    try badCase.check(hash: true)
  }

  @Test(arguments: BadCase.raw)
  func `without a hash, the file is right or absent`(_ badCase: BadCase) throws {
    try badCase.check(hash: false)
  }

  @Test(arguments: [
    "field_begins_blank", "field_begins_tab", "field_blank", "field_blank_name", "field_nul_name",
    "field_no_colon", "field_nul", "field_too_long", "fields_too_many", "no_head",
    "blank_line_first", "status_four_digits", "status_no_number", "status_too_new",
    "status_other_name", "length_words", "transfer_unknown", "chunk_words", "chunk_end_no_field",
    "chunk_end_nul",
  ])
  func `a head that is no head is told as that, and asked for again`(_ name: String) throws {
    let server = try #require(BadServer.shared)
    let harness = try DownloadHarness([
      DownloadSpec(sources: [server.url("/raw_\(name)/3000/1/x")], target: "file")
    ])
    try harness.run()
    let end = try harness.end()
    #expect(end.outcome.reason == .fetch)
    #expect(end.report.detail.contains("invalid response: "), "\(end.report.detail)")
    for word in ["libcurl function", "memory:", "not allowed"] {
      #expect(!end.report.detail.contains(word), "\(end.report.detail)")
    }
  }
}
