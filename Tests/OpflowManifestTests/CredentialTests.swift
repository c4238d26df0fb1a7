import OpflowManifest
import Testing

/// Errors do not show the password of a URL in the manifest.
struct CredentialTests {
  private func shown(_ text: String) -> String {
    do {
      _ = try compile(text)
      return ""
    } catch {
      return DiagnosticRenderer(isColored: false).render(error)
    }
  }

  @Test(arguments: [
    "http://me:hush@h:99999/x", "http://me:hu sh@h/x", "http://me:hu/sh@h/x", "htp://me:hush@h/x",
    "http//me:hush@h/x", "me:hush@h/x", "//me:hush@h/x", "http:me:hush@h", "http://me:hu@sh@h:0/",
    "http://me:hush@", "http://me:hu#sh@h b/", "HTTP://me:hu?sh@[h/", "http://me:hush@h\\x",
    "http://${{ vars.no }}:hush@h/", "http://hush@h:0/",
  ])
  func `an invalid URL`(_ url: String) {
    for quote in ["'", "\""] {
      let value = quote + url.replacing("\\", with: quote == "'" ? "\\" : "\\\\") + quote
      for text in [
        "tasks:\n  a:\n    download: { url: \(value), to: x, no: 1 }\n",
        "tasks:\n  a:\n    download:\n      url: \(value)\n      to: x\n",
        "tasks: { a: { download: { url: 'http://h/', mirrors: [\(value)], to: x } }, b: 1 }\n",
      ] {
        let shown = shown(text)
        #expect(shown.contains("error:"))
        #expect(!shown.contains("hu"), "\(shown)")
        #expect(!shown.contains("sh@"), "\(shown)")
      }
    }
  }

  @Test(arguments: [
    "url: http://me:hush@h/x", "mirrors: [\"http://me:hush@h/x\"]", "url: [http://me:hush@h/x]",
    "run: 'curl http://me:hush@h/x'", "env: { U: http://me:hush@h/x }", "'http://me:hush@h/x': 1",
  ])
  func `a URL next to an error`(_ value: String) {
    for text in [
      "tasks: { a: { \(value), nope: 1 } }", "tasks: { a: { download: { \(value), nope: 1 } } }",
      "tasks: { a: { \(value), \"nope: 1 } }",
    ] {
      let shown = shown(text)
      #expect(shown.contains("***@h"), "\(shown)")
      #expect(!shown.contains("hush"), "\(shown)")
    }
  }

  @Test(arguments: [
    "tasks:\n  a:\n    download:\n      url: http://me:hu sh@h/x: y\n",
    "u: \"http://me:hu sh@h/\"\ntasks: { a: { run: x } }\n",
    "tasks: { a: { download: { URL: 'http://me:hu/sh@h/', to: x } } }\n",
  ])
  func `a password with characters that a URL cannot have, in a value that is not a URL`(
    _ text: String
  ) {
    let shown = shown(text)
    #expect(shown.contains("http://***@h/"), "\(shown)")
    #expect(!shown.contains("hu"), "\(shown)")
  }

  @Test func `a header that is wrong`() {
    let shown = shown(
      """
      tasks:
        a: { download: { url: 'http://h/', to: x, headers: { A: "hush\\n" } } }
        b:
          download: { url: 'http://h/', to: y, headers: { "A B": hush } }
      """)
    #expect(shown.contains("headers: { A: ***"), "\(shown)")
    #expect(!shown.contains("hush"), "\(shown)")
  }

  @Test func `the caret stays below its place`() {
    #expect(
      shown("tasks: { a: { download: { url: http://me:hush@h/, to: x, nope: 1 } } }") == """
        m.yaml:1:58: error: unknown key `nope` in `download`
        tasks: { a: { download: { url: http://***@h/, to: x, nope: 1 } } }
                                                             ^
        help: known keys: url, mirrors, to, sha256, sha512, size, headers, mode, resume, max_speed

        """)
  }

  @Test func `an at sign of a path is no credential's`() {
    let shown = shown("tasks: { a: { download: { url: 'http://h/@a/b c', to: x } } }")
    #expect(shown.contains("'http://h/@a/b c'"), "\(shown)")
  }
}
