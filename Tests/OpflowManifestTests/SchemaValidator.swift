import Foundation

/// jsonschema, as scripts/setup --tests installs it, on manifests as YAML 1.2 reads them.
enum SchemaValidator {
  static let python =
    #filePath.components(separatedBy: "/Tests/")[0] + "/.build/validator/bin/python"

  static var isThere: Bool { FileManager.default.isExecutableFile(atPath: python) }

  enum Verdict: String {
    case accepted, refused
    /// No YAML that PyYAML reads.
    case unreadable
  }

  /// Of each text, in order.
  ///
  /// - Parameter isOld: whether they are read as YAML 1.1, as PyYAML does by itself.
  static func verdicts(
    _ schema: String, _ texts: [String], isOld: Bool = false
  ) throws -> [Verdict] {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let input = folder.appendingPathComponent("input.json")
    let output = folder.appendingPathComponent("output")
    try JSONEncoder().encode([schema] + texts).write(to: input)
    try Data().write(to: output)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: python)
    process.arguments = ["-c", script, input.path] + (isOld ? ["old"] : [])
    process.standardOutput = try FileHandle(forWritingTo: output)
    try process.run()
    process.waitUntilExit()
    return try String(contentsOf: output, encoding: .utf8).split(separator: "\n")
      .compactMap { Verdict(rawValue: String($0)) }
  }

  /// PyYAML resolves scalars by YAML 1.1: here by the core schema of 1.2, and keys are texts.
  private static let script = #"""
    import json, re, sys, yaml, jsonschema

    class Loader(yaml.SafeLoader):
        yaml_implicit_resolvers = {}

    def resolve(tag, pattern, first):
        Loader.add_implicit_resolver('tag:yaml.org,2002:' + tag, re.compile(pattern), first)

    resolve('null', r'^(~|null|Null|NULL|)$', ['~', 'n', 'N', ''])
    resolve('bool', r'^(true|True|TRUE|false|False|FALSE)$', list('tTfF'))
    resolve('int', r'^([-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$', list('-+0123456789'))
    resolve('float', r'^([-+]?([.][0-9]+|[0-9]+([.][0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?[.](inf|Inf|INF)|[.](nan|NaN|NAN))$', list('-+.0123456789'))
    resolve('merge', r'^<<$', ['<'])

    def integer(loader, node):
        text = node.value
        return int(text[2:], 8) if text.startswith('0o') else int(text, 16) if text.startswith('0x') else int(text)

    def mapping(loader, node):
        loader.flatten_mapping(node)
        return {key.value: loader.construct_object(value, deep=True) for key, value in node.value}

    Loader.add_constructor('tag:yaml.org,2002:int', integer)
    Loader.add_constructor('tag:yaml.org,2002:map', mapping)
    schema, *texts = json.load(open(sys.argv[1]))
    schema = json.loads(schema)
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    for text in texts:
        try:
            value = yaml.load(text, yaml.SafeLoader if sys.argv[2:] else Loader)
        except Exception:
            print('unreadable')
            continue
        print('accepted' if validator.is_valid(value) else 'refused')
    """#
}
