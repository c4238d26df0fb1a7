import Foundation
import FoundationXML

/// The rules of Jenkins' schema for test results (jenkinsci/xunit-plugin, junit-10.xsd), and of
/// GitLab, where tests must differ in class or name. The parser is independent of the writer.
final class JUnitSchema: NSObject, XMLParserDelegate {
  struct Element {
    var attributes: Set<String> = []
    var required: Set<String> = []
    var children: Set<String> = []
    var hasText = false
  }

  private static let problem = Element(attributes: ["type", "message"], hasText: true)
  private static let rerun = Element(
    attributes: ["message", "type"], required: ["type"],
    children: ["stackTrace", "system-out", "system-err"], hasText: true)
  private static let text = Element(hasText: true)

  static let elements: [String: Element] = [
    "testsuites": Element(
      attributes: ["name", "time", "tests", "failures", "errors"], children: ["testsuite"]),
    "testsuite": Element(
      attributes: [
        "name", "tests", "failures", "errors", "group", "time", "skipped", "timestamp", "hostname",
        "id", "package", "file", "log", "url",
      ], required: ["name", "tests", "failures", "errors"],
      children: ["testsuite", "properties", "testcase", "system-out", "system-err"]),
    "properties": Element(children: ["property"]),
    "property": Element(attributes: ["name", "value"], required: ["name", "value"]),
    "testcase": Element(
      attributes: ["name", "time", "classname", "group"], required: ["name"],
      children: [
        "skipped", "error", "failure", "rerunFailure", "rerunError", "flakyFailure", "flakyError",
        "system-out", "system-err",
      ]),
    "failure": problem, "error": problem, "skipped": problem,
    "rerunFailure": rerun, "rerunError": rerun, "flakyFailure": rerun, "flakyError": rerun,
    "system-out": text, "system-err": text, "stackTrace": text,
  ]

  private(set) var faults: [String] = []
  /// `CLASS NAME` of each test, with the names of its elements.
  private(set) var tests: [String: [String]] = [:]
  private(set) var texts: [String] = []
  private var open: [String] = []
  private var test = ""
  private var counted: [String: Int] = [:]
  private var told: [String: String] = [:]

  /// What a file breaks; nothing for a sound one.
  static func read(_ bytes: [UInt8]) -> JUnitSchema {
    let schema = JUnitSchema()
    let parser = XMLParser(data: Data(bytes))
    parser.delegate = schema
    if !parser.parse() { schema.faults.append("not well-formed: line \(parser.lineNumber)") }
    return schema
  }

  func parser(
    _: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String]
  ) {
    guard let rule = Self.elements[name] else { return faults.append("<\(name)>") }
    if let parent = open.last, Self.elements[parent]?.children.contains(name) != true {
      faults.append("<\(name)> within <\(parent)>")
    }
    for attribute in attributes.keys where !rule.attributes.contains(attribute) {
      faults.append("\(attribute) of <\(name)>")
    }
    for attribute in rule.required where attributes[attribute] == nil {
      faults.append("no \(attribute) of <\(name)>")
    }
    if name != "testcase", let time = attributes["time"],
      time.wholeMatch(of: /(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?/) == nil
    {
      faults.append("time \(time)")
    }
    switch name {
    case "testsuite":
      counted = [:]
      told = attributes
    case "testcase":
      counted["tests", default: 0] += 1
      test = "\(attributes["classname"] ?? "") \(attributes["name"] ?? "")"
      if tests.updateValue([], forKey: test) != nil { faults.append("twice: \(test)") }
    default:
      if open.last == "testcase" { tests[test]?.append(name) }
      counted[name, default: 0] += 1
    }
    open.append(name)
  }

  func parser(_: XMLParser, foundCharacters text: String) {
    texts.append(text)
    guard let name = open.last, !text.allSatisfy(\.isWhitespace) else { return }
    if Self.elements[name]?.hasText != true { faults.append("text in <\(name)>") }
  }

  func parser(
    _: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
  ) {
    open.removeLast()
    guard name == "testsuite" else { return }
    for (attribute, element) in [
      ("tests", "tests"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped"),
    ] where told[attribute] != "\(counted[element] ?? 0)" {
      faults.append("\(attribute) is \(told[attribute] ?? "none"), not \(counted[element] ?? 0)")
    }
  }
}
