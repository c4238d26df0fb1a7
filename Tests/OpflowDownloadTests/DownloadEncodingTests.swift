import OpflowDownload
import Testing

@Suite("Encodings that nobody asked for")
struct DownloadEncodingTests {
  @Test(arguments: [
    ("", "x.tar", UnaskedEncoding.isTheFile),
    ("gzip", "x.tar", .undo(layers: 1, beginsAsGzip: true)),
    ("x-gzip", "x", .undo(layers: 1, beginsAsGzip: true)),
    ("deflate", "x", .undo(layers: 1, beginsAsGzip: false)),
    ("deflate, gzip", "x", .undo(layers: 2, beginsAsGzip: true)),
    ("gzip, deflate", "x", .undo(layers: 2, beginsAsGzip: false)),
    ("gzip, gzip, gzip, gzip, gzip, gzip", "x", .unknown),
    ("br", "x", .unknown), ("gzip, br", "x", .unknown), ("rot13", "x", .unknown),
  ])
  func `are undone where that can be done`(
    _ encoding: String, _ name: String, _ expected: UnaskedEncoding
  ) {
    #expect(UnaskedEncoding(encoding, url: "http://h/\(name)?q=1") == expected)
  }

  @Test(arguments: [
    ("gzip", "x.tar.gz"), ("x-gzip", "x.TGZ"), ("x-bzip2", "x.tar.bz2"), ("br", "x.js.br"),
    ("zstd", "x.zst"), ("x-xz", "x.xz"), ("x-compress", "x.Z"),
  ])
  func `are the file's own where its name says so`(_ encoding: String, _ name: String) {
    #expect(UnaskedEncoding(encoding, url: "http://h/\(name)") == .isTheFile)
  }

  @Test(arguments: [("br", "x.tar.gz"), ("gzip", "x.zst"), ("gzip, gzip", "x.gz")])
  func `are not taken for another's`(_ encoding: String, _ name: String) {
    #expect(UnaskedEncoding(encoding, url: "http://h/\(name)") != .isTheFile)
  }
}
