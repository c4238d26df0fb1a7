#!/usr/bin/env python3
# Finds words and constructions that the style of the project excludes, in pages, comments and messages.
"""Usage: scripts/pages/words.py [--update] [FILE...]

Prints FILE:LINE: WORD: TEXT for each finding and exits 1 if there is one. Findings in words.allowed beside this
script are exceptions: FILE, a tab, and the text. An exception that is not found any more is a finding too, so the
list only shrinks. --update removes such exceptions; it never adds any.
"""
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
ALLOWED = pathlib.Path(__file__).with_name("words.allowed")

# Words that a reader would not search for. Names of formats, keys and flags stand in backquotes, which are left out.
WORDS = [
    r"drives?", r"legs?", r"famil(?:y|ies)", r"mistakes?", r"slips?", r"anew", r"besides", r"otherwise", r"blanks?",
    r"holdups?", r"withdraw(?:n|s|al)?", r"unkept", r"wordless", r"lanes?", r"adders?", r"further machines?",
    r"handed ahead", r"goes on", r"went on", r"go on with", r"comes? to nothing", r"counts? as",
    r"is no [a-z]", r"are no [a-z]", r"is none", r"are none", r"none of (?:it|its|them|these|those)",
    r"(?:tells?|told) (?:of|that|what|which|where|how|why|whether)", r"(?:stands?|stood|lies) (?:in|at|on|below|beside|before|behind|there|under)",
    r"what (?:is|was|were|are|has|had|it|they|runs|ran|needs|fits|fails|failed|of)", r"whoever", r"who(?:ever)? asked",
]
PATTERN = re.compile(r"\b(?:" + "|".join(WORDS) + r")\b", re.IGNORECASE)
# Quoted code of pages and of comments.
CODE = re.compile(r"`[^`]*`|<!--.*?-->|https?://\S+|\]\([^)]*\)|\$\{\{.*?\}\}", re.DOTALL)


def page(text):
    """The prose of a Markdown page, line by line: blocks of code are left out."""
    inside = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            inside = not inside
        elif not inside:
            yield number, line


TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|#"""(?:.*?)"""#|"""(?:\\.|.)*?"""|#"(?:.*?)"#|"(?:\\\((?:[^()]|\([^()]*\))*\)|\\.|[^"\\\n])*"', re.DOTALL)


def swift(text):
    """Comments and string literals of more than one word."""
    for match in TOKEN.finditer(text):
        start = text.count("\n", 0, match.start()) + 1
        token = match.group()
        if token.startswith("/"):
            yield start, token.lstrip("/* ")
            continue
        token = re.sub(r"\\\((?:[^()]|\([^()]*\))*\)", "_", token).strip('#"')
        for offset, line in enumerate(token.split("\n")):
            if " " in line.strip():
                yield start + offset, line.strip()


def comments(text):
    """Comments of scripts, manifests and C."""
    for number, line in enumerate(text.split("\n"), 1):
        if match := re.match(r"\s*(?:#|//|\*)\s?(.*)", line):
            yield number, match.group(1)


def readable(name):
    if name.endswith(".md"):
        return page
    if name.endswith(".swift"):
        return swift if name.startswith("Sources/") else None
    if name.startswith(("jobs/", "scripts/", "Sources/")) and name.endswith((".yaml", ".c", ".h", ".sh", "")):
        return comments if "/page/" not in name and "golden" not in name else None
    return None


def main(arguments):
    update = arguments[:1] == ["--update"]
    if arguments and arguments[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0
    names = arguments[update:] or subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "Sources", "jobs", "scripts", "README.md", "CHANGELOG.md"],
        cwd=TOP, capture_output=True, text=True, check=True).stdout.split("\n")
    allowed = dict.fromkeys(ALLOWED.read_text().splitlines()) if ALLOWED.exists() else {}
    used, findings = set(), []
    for name in names:
        path = TOP / name
        reader = readable(name)
        if not name or reader is None or not path.is_file() or path == ALLOWED or path.name == "words.py":
            continue
        for number, line in reader(path.read_text(errors="replace")):
            found = PATTERN.search(CODE.sub(" ` ", line))
            if not found:
                continue
            key = f"{name}\t{line.strip()}"
            if key in allowed:
                used.add(key)
            else:
                findings.append(f"{name}:{number}: {found.group().lower()}: {line.strip()[:160]}")
    if update:
        ALLOWED.write_text("".join(f"{key}\n" for key in allowed if key in used))
    elif not arguments:
        findings += [f"{key.replace(chr(9), ': ')[:160]}: no longer found" for key in allowed if key not in used]
    print("\n".join(findings), end="\n" if findings else "")
    return 1 if findings else 0


sys.exit(main(sys.argv[1:]))
