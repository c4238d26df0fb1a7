import OpflowBase
import OpflowDownload
import OpflowPlan
import Testing

/// What people see of addresses.
struct CredentialsTests {
  @Test(arguments: [
    ("see http://me:hush@h/x and ftp://you:hush@g", "see http://***@h/x and ftp://***@g"),
    ("http://h/@scope/x", "http://h/@scope/x"), ("http://a@b@c/", "http://***@c/"),
    ("http://@h/", "http://@h/"), ("no address: me@h", "no address: me@h"), ("://", "://"),
    ("", ""),
    ("http://me:hush", "http://me:hush"), ("http://me:hu sh@h/x: y", "http://***@h/x: y"),
    ("'http://me:hu/s@h@h/', 'http://me:hush@g/@a'", "'http://***@h/', 'http://***@g/@a'"),
    ("http://me:hu\nsh@h", "http://me:hu\nsh@h"), ("http://h:80/a@b", "http://h:80/a@b"),
    ("http://h:/a@b", "http://h:/a@b"), ("http://[::1]/a@b", "http://[::1]/a@b"),
    ("http://h:$PORT/ && mail me@h", "http://h:$PORT/ && mail me@h"),
  ])
  func `a text keeps all but the credentials`(_ text: String, _ shown: String) {
    #expect(Credentials.hidden(in: text) == shown)
  }

  @Test(arguments: [
    ("http://me:hush@h/x", "http://h/x"), ("http://me:hu/sh@h/x", "http://***@h/x"),
    ("me:hush@h", "***@h"), ("http://h/@x", "http://h/@x"), ("nothing", "nothing"),
  ])
  func `an address is shown without them, also where it is none`(_ text: String, _ shown: String) {
    #expect(Credentials.hidden(inAddress: text) == shown)
  }

  @Test func `a redirect to what is no address does not tell its password`() throws {
    var spec = DownloadSpec(sources: ["http://h/x"], target: "/x")
    spec.sha256 = String(repeating: "0", count: 64)
    let machine = DownloadMachine(spec: spec, part: PartOnDisk(), known: nil, bootID: "b")
    _ = machine.start()
    var head = ResponseHead(status: 302)
    head.location = "http://me:hush@g:99999/"
    _ = machine.received(head, nowSeconds: 0)
    guard case .fail(let defeat, _) = machine.bodyEnded(.complete, partBytes: 0) else {
      Issue.record("it goes on")
      return
    }
    #expect(defeat.text.contains("redirected to 'http://***@g:99999/'"), "\(defeat.text)")
  }

  @Test func `the record of a part holds no password`() {
    let spec = DownloadSpec(sources: ["http://me:hush@h/x"], target: "/x")
    let machine = DownloadMachine(spec: spec, part: PartOnDisk(), known: nil, bootID: "b")
    _ = machine.start()
    var head = ResponseHead(status: 200)
    head.etag = "\"v\""
    head.contentLength = 10
    guard case .write(let placement) = machine.received(head, nowSeconds: 0) else {
      Issue.record("nothing is written")
      return
    }
    let text = String(decoding: placement.record.encoded(), as: UTF8.self)
    #expect(!text.contains("hush") && text.contains("source=http://h/x"), "\(text)")
    // And it is known again.
    let next = DownloadMachine(
      spec: spec, part: PartOnDisk(bytes: 4, record: placement.record), known: nil, bootID: "b")
    guard case .request(let request) = next.start() else { return }
    #expect(request.rangeFrom == 4)
  }
}
