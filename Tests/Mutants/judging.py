"""Judges one mutant after the other: first by the tests that reach it, then by runs of the simulation."""

import hashlib
import json
import os
import pathlib
import re
import resource
import select
import shutil
import signal
import subprocess
import time

ISSUE = re.compile(rb"recorded an issue|Fatal error|error: ")
MEMORY = 8 << 30
BITMAP = 65_536
# The seconds of the tests of one process: the likeliest first, so that most mutants cost one short process.
BATCHES = (0.4, 1.5)
# One mutant's runs of the simulation: most are found in the first ones.
RUNS = {
    "PurchaseSync": [["--seeds", "200"], ["--from", "201", "--seeds", "1800"]],
    "PurchaseQueue": [
        ["--storage", "sqlite", "--seeds", "40"], ["--storage", "sqlite", "--from", "41", "--seeds", "160"],
    ],
}


class Process:
    """A process of its own group that is ended at its first issue, or when it takes too long."""

    def __init__(self, command, folder, environment, cpu, idle):
        self.command, self.folder, self.cpu, self.idle = command, folder, cpu, idle
        self.environment = environment

    def limit(self):
        os.setsid()
        os.nice(19)
        resource.setrlimit(resource.RLIMIT_CPU, (int(self.cpu) + 1, int(self.cpu) + 2))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def run(self, ends_at_issue=True):
        """What ended it: "passed", "failed" or "time", with the line that says so."""
        process = subprocess.Popen(
            self.command, cwd=self.folder, env=os.environ | self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=self.limit)
        shown, progress, used = b"", time.monotonic(), 0
        try:
            while True:
                if select.select([process.stdout], [], [], 2)[0]:
                    piece = os.read(process.stdout.fileno(), 65_536)
                    if not piece:
                        break
                    shown += piece
                    issue = ends_at_issue and ISSUE.search(shown)
                    if issue:
                        return "failed", self.line(shown, issue.start())
                    shown = shown[-20_000:]
                spent = self.seconds(process.pid)
                if spent > used:
                    used, progress = spent, time.monotonic()
                elif time.monotonic() - progress > self.idle:
                    return "time", "it waits for ever"
            code = process.wait()
            if code == 0:
                return "passed", ""
            if -code in (signal.SIGXCPU, signal.SIGKILL):
                return "time", "it takes too long"
            return "failed", f"exit {code}: " + self.line(shown, max(0, len(shown) - 200))
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
            process.stdout.close()

    @staticmethod
    def seconds(pid):
        try:
            with open(f"/proc/{pid}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            return 0
        return int(fields[11]) + int(fields[12])

    @staticmethod
    def line(shown, place):
        start = shown.rfind(b"\n", 0, place) + 1
        end = shown.find(b"\n", place)
        line = shown[start:None if end < 0 else end].decode(errors="replace")
        line = re.sub(r"\x1b\[[\d;]*m", "", line)
        at = re.search(r" at \w+\.swift:\d+", line)
        return line[:200] if at is None or at.end() <= 200 else f"{line[:200]}…{at.group()}:"


class Reach:
    """Which mutants each suite of tests and each kind of run reaches, and how long it takes."""

    def __init__(self, copy, say):
        self.copy, self.say = copy, say
        self.file = copy.folder / "reached.json"
        self.known = json.loads(self.file.read_text()) if self.file.exists() else {}
        self.cache = {}

    def measure(self, stages):
        numbers = hashlib.sha256("\n".join(m.key for m in self.copy.kept()).encode()).hexdigest()
        if self.known.get("numbers") != numbers:
            self.known = {"numbers": numbers}
        for module, runs in RUNS.items():
            for suite in self.suites(module) if "tests" in stages else []:
                self.reach(suite, self.tests(suite), self.mark(module, suite))
            if "runs" in stages:
                explore = [str(self.copy.lab), "explore", "--jobs", "1", *runs[0]]
                self.reach(f"runs {module}", explore, "")

    def suites(self, module):
        listed = subprocess.run(
            [str(self.copy.tests), "--testing-library", "swift-testing", "--list-tests"], cwd=self.copy.tree,
            capture_output=True, text=True, check=True).stdout
        tests = [line for line in listed.splitlines() if line.startswith(f"{module}Tests.")]
        return sorted({line.split("/")[0] for line in tests})

    def tests(self, *suites):
        names = "|".join(re.escape(suite) for suite in suites)
        return [str(self.copy.tests), "--testing-library", "swift-testing", "--filter", f"^({names})/"]

    def mark(self, module, suite):
        """Changes when a file that declares or extends the suite changes."""
        name = suite.split(".")[1]
        texts = b""
        for path in sorted((self.copy.tree / "Tests" / f"{module}Tests").rglob("*.swift")):
            text = path.read_bytes()
            if re.search(rb"(struct|class|enum|extension|actor) " + name.encode() + rb"\b", text):
                texts += text
        return hashlib.sha256(texts).hexdigest()

    def reach(self, name, command, mark):
        if self.known.get(name, {}).get("mark") == mark and self.known[name]["passed"]:
            return
        bitmap = self.copy.folder / "reached.bytes"
        bitmap.write_bytes(bytes(BITMAP))
        start, used = time.monotonic(), self.used()
        ended, why = Process(
            command, self.copy.tree, {"PURCHASE_SYNC_MUTANTS_REACHED": str(bitmap)}, 200, 60).run()
        passed = ended == "passed"
        if not passed:
            self.say(f"{name} is left out, it fails without a mutant: {why}")
        self.known[name] = {
            "mark": mark, "passed": passed, "seconds": max(0.01, self.used() - used - 0.1),
            "waits": time.monotonic() - start,
            "numbers": [number for number, byte in enumerate(bitmap.read_bytes()) if byte],
        }
        self.file.write_text(json.dumps(self.known))
        self.cache = {}

    @staticmethod
    def used():
        """The processor's seconds of all processes so far. While other work runs, the clock says little."""
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    def reaching(self, mutant):
        """The suites of the mutant's module that reach it."""
        suites = [name for name in self.known if name.startswith(f"{mutant.module}Tests.")]
        return [name for name in suites if self.known[name]["passed"] and mutant.number in self.sets(name)]

    def sets(self, name):
        if name not in self.cache:
            self.cache[name] = set(self.known[name]["numbers"])
        return self.cache[name]


class Judge:
    def __init__(self, copy, reach, results, most, is_brief=False):
        self.copy, self.reach, self.results, self.most = copy, reach, results, most
        self.is_brief = is_brief
        self.kills = {}
        for found in results.last.values():
            self.note(found)
        # In memory if possible: the queue's tests wait for the disk otherwise.
        memory = pathlib.Path("/dev/shm")
        self.temporary = (memory if memory.is_dir() else copy.folder) / f"mutants-{os.getpid()}"

    def environment(self, mutant):
        shutil.rmtree(self.temporary, ignore_errors=True)
        self.temporary.mkdir()
        return {"PURCHASE_SYNC_MUTANT": str(mutant.number), "TMPDIR": str(self.temporary)}

    def by_tests(self, mutant):
        suites = self.reach.reaching(mutant)
        if not suites:
            return {"result": "unreached"}
        seconds = {suite: self.reach.known[suite]["seconds"] for suite in suites}
        suites.sort(key=lambda suite: seconds[suite] / (1 + self.kills.get((mutant.file, suite), 0)))
        suites = self.affordable(suites, seconds)
        begun = len(suites)
        while suites:
            limit = BATCHES[0] if len(suites) == begun else BATCHES[1]
            batch, total = [], 0.0
            while suites and (not batch or total + seconds[suites[0]] <= limit):
                total += seconds[suites[0]]
                batch.append(suites.pop(0))
            ended, why = Process(
                self.reach.tests(*batch), self.copy.tree, self.environment(mutant), 3 + 5 * total,
                15 + 2 * max(self.reach.known[suite]["waits"] for suite in batch)).run()
            if ended != "passed":
                result = "killed" if ended == "failed" else "time"
                return {"result": result, "by": ",".join(batch)[:300], "why": why}
        return {"result": "survived"}

    def affordable(self, suites, seconds):
        """The first suites, up to the most seconds of one mutant."""
        chosen, total = [], 0.0
        for suite in suites:
            total += seconds[suite]
            if chosen and total > self.most:
                break
            chosen.append(suite)
        return chosen

    def note(self, found):
        """Counts the suites that kill mutants of a file: they are the likeliest for its other mutants."""
        at = re.search(r" at (\w+)\.swift:", found.get("why", ""))
        if at:
            file = found["key"].split(" | ")[0]
            suite = f"{file.split('/')[1]}Tests.{at[1]}"
            self.kills[file, suite] = self.kills.get((file, suite), 0) + 1

    def by_runs(self, mutant):
        if mutant.number not in self.reach.sets(f"runs {mutant.module}"):
            return {"result": "unreached"}
        for runs in RUNS[mutant.module][:1 if self.is_brief else None]:
            command = [str(self.copy.lab), "explore", "--jobs", "1", "--failures", "1", *runs]
            ended, why = Process(command, self.copy.tree, self.environment(mutant), 120, 60).run(False)
            if ended != "passed":
                return {"result": "killed" if ended == "failed" else "time", "by": " ".join(runs), "why": why}
        return {"result": "begun" if self.is_brief else "survived"}

    def judge(self, mutant, stage):
        start = time.monotonic()
        found = self.by_tests(mutant) if stage == "tests" else self.by_runs(mutant)
        found |= {"key": mutant.key, "stage": stage, "seconds": round(time.monotonic() - start, 2)}
        self.results.add(found)
        self.note(found)
        return found
