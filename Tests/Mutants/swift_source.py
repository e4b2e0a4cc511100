"""Reads a Swift source file as tokens and statements. It relies on the layout that `swift format` gives."""

import re

OPENERS, CLOSERS = "([{", ")]}"
OPERATOR = re.compile(r"[-+*/%<>=!&|^~?.]+")
WORD = re.compile(r"[@#$`]?[A-Za-z_][\w`]*|\$\d+")
NUMBER = re.compile(r"0[xb][0-9A-Fa-f_]+|\d[\d_]*(\.\d[\d_]*)?")
TYPE_WORDS = {"struct", "class", "enum", "extension", "protocol", "actor"}


class Token:
    def __init__(self, kind, text, start):
        self.kind, self.text, self.start, self.end = kind, text, start, start + len(text)


def string_end(text, start):
    """The end of the string literal that starts here; its interpolations may hold strings."""
    quote = '"""' if text.startswith('"""', start) else '"'
    place = start + len(quote)
    while not text.startswith(quote, place):
        if text.startswith("\\(", place):
            place, depth = place + 2, 1
            while depth:
                if text[place] == '"':
                    place = string_end(text, place)
                    continue
                depth += {"(": 1, ")": -1}.get(text[place], 0)
                place += 1
        else:
            place += 2 if text[place] == "\\" else 1
    return place + len(quote)


def tokens_of(text):
    tokens, place = [], 0
    while place < len(text):
        if text[place].isspace():
            place += 1
            continue
        if text.startswith("//", place):
            end = text.find("\n", place)
            place = len(text) if end < 0 else end
            continue
        if text[place] == '"':
            token = Token("string", text[place:string_end(text, place)], place)
        elif text[place] in OPENERS + CLOSERS + ",:;":
            token = Token(text[place], text[place], place)
        else:
            for kind, pattern in (("word", WORD), ("number", NUMBER), ("operator", OPERATOR)):
                match = pattern.match(text, place)
                if match:
                    token = Token(kind, match.group(), place)
                    break
            else:
                token = Token("other", text[place], place)
        tokens.append(token)
        place = token.end
    return tokens


class Statement:
    """A statement: its first token, the token after its last one, and the block that holds it."""

    def __init__(self, source, first, after, block):
        self.first, self.after, self.block = first, after, block
        self.start, self.end = source.tokens[first].start, source.tokens[after - 1].end
        self.text = source.text[self.start:self.end]
        self.words = [token.text for token in source.tokens[first:after] if token.kind == "word"]
        self.head = source.tokens[first].text


class Source:
    def __init__(self, path, text):
        self.path, self.text = path, text
        self.tokens = tokens_of(text)
        self.partner, self.opener = {}, []
        stack = []
        for index, token in enumerate(self.tokens):
            if token.kind in CLOSERS:
                self.partner[stack[-1]], self.partner[index] = index, stack[-1]
                stack.pop()
            self.opener.append(stack[-1] if stack else None)
            if token.kind in OPENERS:
                stack.append(index)
        self.line_starts = [0] + [match.end() for match in re.finditer("\n", text)]

    def line(self, place):
        return self.text.count("\n", 0, place) + 1

    def line_text(self, place):
        start = self.text.rfind("\n", 0, place) + 1
        end = self.text.find("\n", place)
        return self.text[start:end].strip()

    def column(self, place):
        return place - (self.text.rfind("\n", 0, place) + 1)

    def starts_line(self, index):
        token = self.tokens[index]
        return self.text[token.start - self.column(token.start):token.start].strip() == ""

    def indentation(self, place):
        start = place - self.column(place)
        return len(self.text[start:]) - len(self.text[start:].lstrip(" "))

    def header(self, brace):
        """The words before a brace, back to the start of its statement."""
        words, index, depth = [], brace - 1, 0
        close = self.indentation(self.tokens[self.partner[brace]].start)
        while index >= 0:
            token = self.tokens[index]
            if token.kind in CLOSERS:
                index = self.partner[index] - 1
                if index >= 0 and token.kind == "}" and self.starts_line(self.partner[index + 1]):
                    break
                continue
            if token.kind in OPENERS or token.kind == ";":
                break
            words.append(token.text)
            if self.starts_line(index) and self.column(token.start) <= close:
                break
            index -= 1
        return words[::-1]

    def blocks(self):
        """Each block of code as its list of statements. Those of a `switch` are one list for each case."""
        for brace, token in enumerate(self.tokens):
            if token.kind != "{":
                continue
            header = self.header(brace)
            if TYPE_WORDS & set(header[:4]) and "func" not in header:
                continue
            yield from self.statements(brace, header)

    def statements(self, brace, header):
        close = self.partner[brace]
        if self.line(self.tokens[brace].start) == self.line(self.tokens[close].start):
            if header and header[0] in {"if", "for", "while", "else", "guard", "do", "case"}:
                if close > brace + 1:
                    yield [Statement(self, brace + 1, close, brace)]
            return
        indentation = self.indentation(self.tokens[close].start) + 2
        starts, index = [], brace + 1
        while index < close:
            token = self.tokens[index]
            if self.starts_line(index) and self.column(token.start) <= indentation:
                is_joined = token.kind == "operator" and token.text[0] in ".?&|"
                continues = is_joined or token.kind in CLOSERS + "{"
                if not continues and token.text not in ("else", "catch"):
                    starts.append(index)
            index = self.partner[index] + 1 if token.kind in OPENERS else index + 1
        group = []
        for start, after in zip(starts, starts[1:] + [close]):
            if self.tokens[start].text in ("case", "default", "@unknown") and header and "switch" in header:
                yield group
                group = []
                colon = self.case_colon(start, after)
                if colon and colon + 1 < after:
                    yield [Statement(self, colon + 1, after, brace)]
                continue
            group.append(Statement(self, start, after, brace))
        yield group

    def case_colon(self, start, after):
        index = start
        while index < after:
            if self.tokens[index].kind == ":":
                return index
            index = self.partner[index] + 1 if self.tokens[index].kind in OPENERS else index + 1
        return None
