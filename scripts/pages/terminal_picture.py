"""Converts the content of a terminal (output of `tmux capture-pane -e -p`) to SVG.

  terminal_picture.py TITLE < CAPTURE > PICTURE

Keeps text as text, so that readers can search and copy it and screen readers can read it.
"""
import re
import sys
import unicodedata
from xml.sax.saxutils import escape

CELL_WIDTH = 8.4
LINE_HEIGHT = 19
MARGIN = 16
BAR = 30
FOREGROUND = "#d7dae0"
BACKGROUND = "#1b1e24"
# The eight colours of a terminal, then the bright ones.
COLOURS = [
    "#5c6370", "#e5737b", "#8cc265", "#d8a657", "#6fb1f0", "#c586d8", "#4fc0c9", "#d7dae0",
    "#7f8794", "#f08a91", "#a3d67e", "#e6bd74", "#8ec5fa", "#d9a3e8", "#73d6de", "#ffffff",
]


class Style:
    def __init__(self):
        self.colour, self.bold, self.dim, self.reverse = None, False, False, False

    def change(self, codes):
        for code in codes or [0]:
            if code == 0:
                self.__init__()
            elif code == 1:
                self.bold = True
            elif code == 2:
                self.dim = True
            elif code == 7:
                self.reverse = True
            elif code == 22:
                self.bold = self.dim = False
            elif code == 27:
                self.reverse = False
            elif 30 <= code <= 37:
                self.colour = COLOURS[code - 30]
            elif 90 <= code <= 97:
                self.colour = COLOURS[code - 82]
            elif code == 39:
                self.colour = None

    def attributes(self):
        words = []
        if self.colour:
            words.append(f'fill="{self.colour}"')
        if self.bold:
            words.append('font-weight="bold"')
        if self.dim:
            words.append('opacity="0.6"')
        return " ".join(words)


def width(text):
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def draw_line(line, y):
    """Draws each part of a line that has one style at its column, for a font of any width."""
    style, column, parts = Style(), 0, []
    for text, codes in re.findall(r"([^\x1b]+)|\x1b\[([\d;]*)m", line):
        if not text:
            style.change([int(code) for code in codes.split(";") if code])
            continue
        for word in re.finditer(r"\S+(?: \S+)*", text):
            x = MARGIN + (column + width(text[: word.start()])) * CELL_WIDTH
            length = width(word.group()) * CELL_WIDTH
            parts.append(
                f'<text x="{x:.1f}" y="{y}" textLength="{length:.1f}" lengthAdjust="spacingAndGlyphs"'
                f" {style.attributes()}>{escape(word.group())}</text>"
            )
        column += width(text)
    return parts, column


def main():
    lines = re.sub(r"\x1b\][^\x1b\x07]*(\x1b\\|\x07)", "", sys.stdin.read()).rstrip("\n").split("\n")
    parts, columns = [], 0
    for number, line in enumerate(lines):
        drawn, count = draw_line(line, BAR + MARGIN + LINE_HEIGHT * number + 8)
        parts += drawn
        columns = max(columns, count)
    full_width = round(2 * MARGIN + columns * CELL_WIDTH)
    full_height = BAR + 2 * MARGIN + LINE_HEIGHT * len(lines) - 8
    title = escape(sys.argv[1])
    print(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{full_width}" height="{full_height}"'
        f' viewBox="0 0 {full_width} {full_height}" role="img" aria-label="{title}">'
        f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>'
        f'<text x="50%" y="20" text-anchor="middle" font-family="sans-serif" font-size="12"'
        f' fill="#8b919c">{title}</text>'
    )
    print(
        f'<g font-family="ui-monospace, \'DejaVu Sans Mono\', Menlo, Consolas, monospace"'
        f' font-size="14" fill="{FOREGROUND}" xml:space="preserve">'
    )
    print("\n".join(parts))
    print("</g></svg>")


main()
