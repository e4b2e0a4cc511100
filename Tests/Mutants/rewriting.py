"""Writes all mutants into one source: each mutated place asks which mutant is active."""

OPERATOR_CHARACTERS = "^~+-"


def operator_of(mutant):
    """Each mutated operator has one of its own: it keeps the precedence, and needs no operands in brackets."""
    digits, number = "", mutant.number
    while number:
        digits += OPERATOR_CHARACTERS[number % 4]
        number //= 4
    return "<" + digits


def marks(mutant):
    """What the rewritten text has where it asks for a mutant."""
    if mutant.kind in ("condition", "removed", "swapped"):
        return [f"isMutant({mutant.number})"]
    if mutant.kind in ("up", "down"):
        return [f"movedLiteral({mutant.number}, ", f", {mutant.number}, "]
    return [f" {mutant.operator} "]


class Rewriting:
    """The new text of a source, and the mutants of each of its lines."""

    def __init__(self, source, mutants):
        self.inserted = []  # (place, level, text); a lower level comes first.
        self.replaced = {}  # start: (end, text)
        self.operators = []
        self.places = []  # (start, end, mutant) in the old text.
        self.mutants = mutants
        guards = {}
        operators, literals = {}, {}
        for mutant in mutants:
            if mutant.kind == "condition":
                width = mutant.end - mutant.start
                self.insert(mutant.start, 2_000_000 - width, f"(isMutant({mutant.number}) != (")
                self.insert(mutant.end, -2_000_000 + width, "))")
            elif mutant.kind == "removed":
                guards.setdefault((mutant.start, mutant.end), []).append(mutant)
            elif mutant.kind == "swapped":
                guards.setdefault((mutant.start, mutant.end), []).append(mutant)
                original = source.text[mutant.start:mutant.end]
                self.insert(mutant.before, 500_000, f"if isMutant({mutant.number}) {{ {original} }}; ")
            elif mutant.kind in ("up", "down"):
                literals.setdefault((mutant.start, mutant.end), {})[mutant.kind] = mutant.number
            else:
                operators.setdefault((mutant.start, mutant.end), []).append(mutant)
        for (start, end), those in guards.items():
            asked = ", ".join(f"!isMutant({mutant.number})" for mutant in those)
            self.insert(start, 1_000_000 - (end - start), f"if {asked} {{ ")
            self.insert(end, -1_000_000 + (end - start), " }")
        for (start, end), numbers in literals.items():
            literal = source.text[start:end]
            up, down = numbers.get("up", -1), numbers.get("down", -1)
            self.replaced[start] = (end, f"movedLiteral({up}, {down}, {literal})")
        for (start, end), those in operators.items():
            for mutant in those:
                mutant.operator = operator_of(those[0])
            self.replaced[start] = (end, those[0].operator)
            self.operators.append((source.text[start:end], those))
        self.text = self.rewritten(source.text)

    def insert(self, place, level, text):
        self.inserted.append((place, level, text))

    def rewritten(self, text):
        parts, place = [], 0
        for at, _, piece in sorted(self.inserted + [(s, 3_000_000, None) for s in self.replaced]):
            parts.append(text[place:at])
            place = at
            if piece is None:
                place, piece = self.replaced[at]
            parts.append(piece)
        return "".join(parts) + text[place:]

    def guilty(self, line):
        """The mutants that a compiler's error in this line may come from: the smallest that are there."""
        lines = self.text.split("\n")
        shown = lines[line - 1] if line <= len(lines) else ""
        return [mutant for mutant in self.mutants if any(mark in shown for mark in marks(mutant))]

    def around(self, line):
        """The mutants of statements that began at an earlier line."""
        before = "\n".join(self.text.split("\n")[:line])
        asked = [mutant for mutant in self.mutants if f"isMutant({mutant.number})" in before]
        return asked[-1:]


def support(operators):
    """The file that a mutated module gets: the questions, and an operator for each mutated one."""
    lines = [
        "import CMutants", "",
        "@inline(__always) func isMutant(_ number: Int32) -> Bool { mutant_is(number) }", "",
        "@inline(__always)",
        "func movedLiteral<T: Numeric>(_ up: Int32, _ down: Int32, _ value: T) -> T {",
        "  if up >= 0, isMutant(up) { return value + 1 }",
        "  if down >= 0, isMutant(down) { return value - 1 }",
        "  return value", "}", "",
    ]
    for original, mutants in operators:
        name = mutants[0].operator
        if original in ("&&", "||"):
            other = {"&&": "||", "||": "&&"}[original]
            precedence = "Conjunction" if original == "&&" else "Disjunction"
            both, asked = "(one: Bool, other: @autoclosure () throws -> Bool)", mutants[0].number
            lines += [
                f"infix operator {name}: Logical{precedence}Precedence",
                f"@inline(__always) func {name} {both} rethrows -> Bool {{",
                f"  isMutant({asked}) ? try one {other} other() : try one {original} other()", "}",
            ]
            continue
        lines.append(f"infix operator {name}: ComparisonPrecedence")
        bound = "T: Comparable" if original[0] in "<>" else "T: Equatable"
        forms = [("T", "T", bound), ("Int64", "Int64", "")]
        if original in ("==", "!="):
            forms.append(("T?", "_OptionalNilComparisonType", "T"))
        for one, other, generic in forms:
            clause = f"<{generic}>" if generic else " "
            lines.append(f"@inline(__always) func {name} {clause}(one: {one}, other: {other}) -> Bool {{")
            for mutant in mutants:
                changed = mutant.change.split()[-1]
                lines.append(f"  if isMutant({mutant.number}) {{ return one {changed} other }}")
            lines += [f"  return one {original} other", "}"]
    return "\n".join(lines) + "\n"


HEADER = """\
#include <stdbool.h>

extern int mutants_active;
extern unsigned char *mutants_reached;

static inline bool mutant_is(int number) {
  if (mutants_reached) mutants_reached[number] = 1;
  return mutants_active == number;
}
"""

IMPLEMENTATION = """\
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int mutants_active = -1;
unsigned char *mutants_reached = 0;

__attribute__((constructor)) static void mutants_read(void) {
  const char *active = getenv("PURCHASE_SYNC_MUTANT");
  if (active) mutants_active = atoi(active);
  const char *path = getenv("PURCHASE_SYNC_MUTANTS_REACHED");
  if (!path) return;
  int file = open(path, O_RDWR);
  if (file < 0) return;
  void *bytes = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (bytes != MAP_FAILED) mutants_reached = bytes;
  close(file);
}
"""

MANIFEST = """
// The mutants' build: the mutated modules ask CMutants, and only their own tests are built.
package.targets.append(.target(name: "CMutants"))
for target in package.targets where ["PurchaseQueue", "PurchaseSync"].contains(target.name) {
  target.dependencies.append("CMutants")
}
package.targets.removeAll { $0.isTest && !["PurchaseQueueTests", "PurchaseSyncTests"].contains($0.name) }
"""
