"""Finds the mutants of a source: what each one changes, and where."""

import re

from swift_source import CLOSERS, OPENERS, Source

# Each comparison: moved by one, and negated.
MOVED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
JOINED = {"&&": "||", "||": "&&"}
DECLARATIONS = {
    "let", "var", "func", "struct", "enum", "typealias", "case", "return", "throw", "break", "continue",
    "guard", "defer", "switch", "private", "package", "static", "init", "default", "fallthrough",
}
CALL = re.compile(r"(try |await |_ = )*[\w.$\[\]!?]+(\(|\.|\s*\{|\[)")


class Mutant:
    def __init__(self, source, kind, start, end, change, text=None):
        self.file, self.kind, self.start, self.end, self.change = source.path, kind, start, end, change
        self.line = source.line(start)
        self.text = " ".join((text or source.line_text(start)).split())
        # How much memory is set aside shows in no result. Such mutants are numbered with the others, and not judged.
        self.is_idle = "reserveCapacity(" in self.text
        self.number = None
        self.times = 1

    @property
    def key(self):
        """Stays the same when lines move: the file, the text and the change; a repeated one is counted."""
        repeated = f" ({self.times})" if self.times > 1 else ""
        return f"{self.file} | {self.text} | {self.change}{repeated}"


def clauses(source, first, stop):
    """The conditions from a token to the brace or the `else` that ends the list, as pairs of token indices."""
    start = index = first
    while index < len(source.tokens):
        token = source.tokens[index]
        ends = token.kind in CLOSERS + ";" or token.text == stop or stop == "{" and token.kind == ":"
        if ends:
            if index > start:
                yield start, index
            return
        if token.kind == ",":
            yield start, index
            start = index + 1
        index = source.partner[index] + 1 if token.kind in OPENERS else index + 1


def conditions(source):
    for index, token in enumerate(source.tokens):
        if token.kind != "word" or token.text not in ("if", "guard", "while", "where"):
            continue
        if token.text == "where" and is_generic(source, index):
            continue
        for first, after in clauses(source, index + 1, "else" if token.text == "guard" else "{"):
            if source.tokens[first].text in ("let", "var", "case", "#available"):
                continue
            if source.tokens[first].text == "try":
                first += 1
            yield first, after


def is_generic(source, index):
    clauses = ("for", "case", "catch")
    start = index
    while start and source.tokens[start].text not in (*clauses, "{", "}", "func", "init", "extension"):
        start -= 1
    return source.tokens[start].text not in clauses


def is_call(statement):
    if statement.head in DECLARATIONS or statement.head in ("if", "for", "while", "do", "repeat", "#if"):
        return False
    if "reserveCapacity" in statement.words or not statement.text.endswith((")", "}")):
        return False
    if re.search(r"\s[-+|&]?=\s", statement.text) and not statement.text.startswith("_ = "):
        return bool(re.match(r"[\w.]+ \+= .*\(", statement.text, re.S))
    return bool(CALL.match(statement.text))


def target(statement):
    """What an assignment assigns."""
    match = re.match(r"(?:self\.)?([\w]+)[\w.\[\]]* [-+|]?= ", statement.text)
    return match.group(1) if match else None


def may_swap(one, other):
    for statement in (one, other):
        if statement.head in DECLARATIONS or statement.head.startswith(("#", "@")):
            return False
        if "reserveCapacity" in statement.words or "super" in statement.words:
            return False
    mine, its = target(one), target(other)
    if mine and its and mine not in other.words and its not in one.words:
        return False  # Independent values.
    return one.text != other.text


def find(path, text):
    source = Source(path, text)
    found, whole = [], set()
    for first, after in conditions(source):
        start, end = source.tokens[first].start, source.tokens[after - 1].end
        clause = source.text[start:end]
        comparisons = [
            index for index in range(first, after)
            if source.tokens[index].text in NEGATED and source.opener[index] == source.opener[first]
        ]
        joined = any(source.tokens[index].text in JOINED for index in range(first, after))
        if len(comparisons) == 1 and not joined:
            whole.add(comparisons[0])
        found.append(Mutant(source, "condition", start, end, f"negated: {' '.join(clause.split())}"))
    for index, token in enumerate(source.tokens):
        for kind, text in replacements(source, index, token, index in whole):
            found.append(Mutant(source, kind, token.start, token.end, f"{token.text} becomes {text}"))
    for block in source.blocks():
        for statement in block:
            if is_call(statement):
                found.append(
                    Mutant(source, "removed", statement.start, statement.end, "removed", statement.text))
        for one, other in zip(block, block[1:]):
            if may_swap(one, other):
                first = " ".join(one.text.split())
                mutant = Mutant(
                    source, "swapped", other.start, other.end, f"before: {first[:100]}", other.text[:200])
                mutant.before = one.start
                found.append(mutant)
    count_repeated(found)
    return source, found


def replacements(source, index, token, is_whole):
    """What a comparison, a conjunction or a constant may become."""
    around = source.text[token.start - 1] + source.text[token.end:token.end + 1]
    if token.kind == "operator" and around.isspace():
        if token.text in MOVED:
            yield "moved", MOVED[token.text]
        if token.text in NEGATED and not is_whole:
            yield "negated", NEGATED[token.text]
        if token.text in JOINED:
            yield "joined", JOINED[token.text]
    if token.kind == "number" and re.fullmatch(r"[\d_]+", token.text) and is_value(source, index):
        value = int(token.text.replace("_", ""))
        yield "up", value + 1
        if value > 0:
            yield "down", value - 1


def is_value(source, index):
    before = source.tokens[index - 1]
    return not (before.text == "." and before.end == source.tokens[index].start)


def count_repeated(found):
    seen = {}
    for mutant in sorted(found, key=lambda mutant: (mutant.start, mutant.end)):
        key = (mutant.file, mutant.text, mutant.change)
        mutant.times = seen[key] = seen.get(key, 0) + 1
