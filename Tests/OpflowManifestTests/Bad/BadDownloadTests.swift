import Testing

/// Invalid downloads.
struct BadDownloadTests {
  @Test(arguments: cases)
  func `is refused with every error at its place`(_ bad: BadManifest) {
    #expect(errors(in: bad.text) == bad.errors)
  }

  static let cases: [BadManifest] = [
    BadManifest(
      "a url without a host", task: "download: { url: \"https:///x\", to: y }",
      "3:22: `url` must be an http, https or file URL"),
    BadManifest(
      "a url with a port that is none", task: "download: { url: \"https://h:99999/x\", to: y }",
      "3:22: `url` must be an http, https or file URL"),
    BadManifest(
      "a download without a url", task: "download: { to: y }",
      "3:15: `download` has no `url`"),
    BadManifest(
      "a download without a target", task: "download: { url: https://h/x }",
      "3:15: `download` has no `to`"),
    BadManifest(
      "a download that is a text", task: "download: https://h/x",
      "3:15: `download` must be a map, not a string"),
    BadManifest(
      "a download by ftp", task: "download: { url: ftp://h/x, to: y }",
      "3:22: `url` must be an http, https or file URL"),
    BadManifest(
      "a url with a blank", task: "download: { url: 'https://h/x y', to: y }",
      "3:22: `url` must be an http, https or file URL"),
    BadManifest(
      "mirrors that are a text",
      task: "download: { url: https://h/x, to: y, mirrors: https://m/x }",
      "3:51: `mirrors` must be a list of URLs, not a string"),
    BadManifest(
      "a mirror by ftp", task: "download: { url: https://h/x, to: y, mirrors: [ftp://m/x] }",
      "3:52: an item of `mirrors` must be an http, https or file URL"),
    BadManifest(
      "a hash of the wrong length", task: "download: { url: https://h/x, to: y, sha256: abc }",
      "3:50: `sha256` must have 64 digits, not 3"),
    BadManifest(
      "a hash that is no hexadecimal", task: "download: { url: https://h/x, to: y, sha256: xyz }",
      "3:50: `sha256` must be 64 hexadecimal digits"),
    BadManifest(
      "a sha512 of the length of a sha256",
      task: "download: { url: https://h/x, to: y, sha512: " + String(repeating: "a", count: 64)
        + " }",
      "3:50: `sha512` must have 128 digits, not 64"),
    BadManifest(
      "a size that is a word", task: "download: { url: https://h/x, to: y, size: big }",
      "3:48: `size` must be a size, not `big`"),
    BadManifest(
      "headers as a list", task: "download: { url: https://h/x, to: y, headers: [a] }",
      "3:51: `headers` must be a map, not a list"),
    BadManifest(
      "a header with a bad name",
      task: "download: { url: https://h/x, to: y, headers: { 'a b': c } }",
      "3:53: `a b` is not a valid HTTP header name"),
    BadManifest(
      "a header with a line end",
      task: "download: { url: https://h/x, to: y, headers: { A: \"b\\nc\" } }",
      "3:56: `headers.A` contains a newline"),
    BadManifest(
      "a mode without quotes", task: "download: { url: https://h/x, to: y, mode: 0644 }",
      "3:48: `mode` must be a string, not a number"),
    BadManifest(
      "a mode with a sign", task: "download: { url: https://h/x, to: y, mode: '+644' }",
      "3:48: `mode` must be three or four octal digits"),
    BadManifest(
      "a mode that is no octal number", task: "download: { url: https://h/x, to: y, mode: '0899' }",
      "3:48: `mode` must be three or four octal digits"),
    BadManifest(
      "resume that is a word", task: "download: { url: https://h/x, to: y, resume: sometimes }",
      "3:50: `resume` must be true or false, not `sometimes`"),
    BadManifest(
      "a wrong speed", task: "download: { url: https://h/x, to: y, max_speed: fast }",
      "3:53: `max_speed` must be a size per second"),
    BadManifest(
      "an unknown key", task: "download: { url: https://h/x, to: y, checksum: abc }",
      "3:42: unknown key `checksum` in `download`"),
    BadManifest(
      "one target of two downloads",
      """
      tasks:
        a: { download: { url: http://h/x, to: y } }
        b: { download: { url: http://h/x, to: ./y } }
      """,
      "3:41: `./y` is written twice"),
  ]
}
