import OpflowBase
import OpflowDownload
import Testing

@Suite("Addresses of downloads")
struct DownloadAddressTests {
  private func text(_ url: String) -> String? { try? WebAddress(url).text }

  @Test(arguments: [
    ("http://h", "http://h/"),
    ("HTTP://EXAMPLE.org:8080/A?b=C#frag", "http://example.org:8080/A?b=C"),
    ("https://user:pa%20ss@h/x", "https://h/x"),
    ("http://[::1]:80/x", "http://[::1]:80/x"),
    ("http://h/a b\"<>^`{|}", "http://h/a%20b%22%3C%3E%5E%60%7B%7C%7D"),
    ("http://h/grün/%C3%BC", "http://h/gr%C3%BCn/%C3%BC"),
    ("http://h/100%", "http://h/100%25"),
    ("http://h?q=ü", "http://h/?q=%C3%BC"),
    ("http://h:/x", "http://h/x"),
    ("  http://h/x\n", "http://h/x"),
    ("http://bücher.example/", "http://bücher.example/"),
    ("file:///a/b c", "file:///a/b%20c"),
    ("file://localhost/a", "file:///a"),
  ])
  func `are asked for as URLs may be written`(_ url: String, _ asked: String) {
    #expect(text(url) == asked)
  }

  @Test(arguments: [
    ("example.org/x", WebAddress.ParseError.notAbsolute), ("/x", .notAbsolute), ("", .notAbsolute),
    ("http:/h/x", .notAbsolute), ("ftp://h/x", .scheme("ftp")),
    ("javascript:1", .scheme("javascript")),
    ("http:///x", .host), ("http://a b/", .host), ("http://h\\@other/", .host),
    ("http://[::1/", .host), ("http://[x y]/", .host), ("http://[::1]x/", .host),
    ("http://h:99999/", .port), ("http://h:0/", .port), ("http://h:x/", .port),
    ("file://other/x", .host),
  ])
  func `that are none say why`(_ url: String, _ problem: WebAddress.ParseError) {
    #expect(throws: problem) { try WebAddress(url) }
  }

  @Test(arguments: [
    ("http://h/a/b?q", "c", "http://h/a/c"),
    ("http://h/a/b?q", "?r", "http://h/a/b?r"),
    ("http://h/a/b?q", "#f", "http://h/a/b?q"),
    ("http://h/a/b", "/c/./d/../e", "http://h/c/e"),
    ("http://h/a/b", "../../../c/..", "http://h/"),
    ("http://h/a/b/", "..", "http://h/a/"),
    ("https://h:44/a", "//other:5/x", "https://other:5/x"),
    ("http://h/a", "https://h/x", "https://h/x"),
    ("http://h/a", "x:y/z", nil),
    ("http://h/a", "b c", "http://h/b%20c"),
    ("http://h", "b?c=http://x/../y", "http://h/b?c=http://x/../y"),
  ])
  func `lead on as RFC 3986 has it`(_ base: String, _ reference: String, _ target: String?) throws {
    let address = try WebAddress(base)
    #expect((try? address.resolving(reference))?.text == target)
  }

  @Test func `take credentials along to their own origin only`() throws {
    let base = try WebAddress("http://me:secret@h/a")
    #expect(try base.resolving("/b").userInfo == "me:secret")
    #expect(try base.resolving("http://h:80/b").userInfo == "me:secret")
    #expect(try base.resolving("http://h:81/b").userInfo == nil)
    #expect(try base.resolving("https://h/b").userInfo == nil)
    #expect(try base.resolving("http://other/b").userInfo == nil)
  }
}

@Suite("Dates and waits of HTTP")
struct DownloadDateTests {
  @Test(arguments: [
    ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
    ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
    ("Sun Nov  6 08:49:37 1994", 784_111_777),
    ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
    ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200),
    ("Sun, 06 Nov 1994", nil), ("", nil), ("yesterday, at ten past four or so", nil),
    ("Sun, 99 Nov 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 25:49:37 GMT", nil),
  ])
  func `are read in their three forms`(_ text: String, _ seconds: Int64?) {
    #expect(HTTPDate.seconds(text) == seconds)
  }

  @Test(arguments: [
    ("7", 7000), (" 0", 0), ("99999999999999999999", 86_400_000), ("-1", nil), ("soon", nil),
    ("Sun, 06 Nov 1994 08:49:37 GMT", 37_000), ("Sun, 06 Nov 1994 08:00:00 GMT", 0),
    ("Sun, 06 Nov 2094 08:00:00 GMT", 86_400_000),
  ])
  func `say how long to wait, within limits`(_ field: String, _ milliseconds: Int64?) {
    #expect(RetryAfter.milliseconds(field, nowSeconds: 784_111_740) == milliseconds)
  }
}

@Suite("The speed of a download")
struct SpeedEstimateTests {
  @Test func `is that of the last seconds`() {
    var speed = SpeedEstimate()
    #expect(speed.bytesPerSecond(atMilliseconds: 0) == 0)
    speed.note(bytes: 0, atMilliseconds: 0)
    for second in 1...20 {
      speed.note(bytes: Int64(second) * 1000, atMilliseconds: Int64(second) * 1000)
    }
    #expect(speed.bytesPerSecond(atMilliseconds: 20_000) == 1000)
    for second in 21...40 {
      speed.note(bytes: 20_000 + Int64(second - 20) * 5000, atMilliseconds: Int64(second) * 1000)
    }
    #expect(speed.bytesPerSecond(atMilliseconds: 40_000) == 5000)
    speed.reset()
    #expect(speed.bytesPerSecond(atMilliseconds: 41_000) == 0)
  }
}
