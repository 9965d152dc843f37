#!/usr/bin/env python3
"""tally.py LOG -- adds up what the test programs of one `meson test` run say about themselves.

LOG is meson's JSON log, one program a line. A program prints `NAME: N passed, M failed` lines; the result is one line
with three numbers on stdout: passed, failed, skipped. A program that dies without its line is one failure, and so is a
run without any program. The output of whatever failed goes to stderr.

SPDX-License-Identifier: MIT
"""
import json
import os
import re
import sys

LINE = re.compile(r"^[\w.-]+: (\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.MULTILINE)
SKIP = "SKIP"
NOISE = "ASan doesn't fully support makecontext"  # once for each process; we tell it of our stacks


def tally(program):
    """The numbers of one program: passed, failed, skipped."""
    rows = LINE.findall(program.get("stdout", ""))
    passed, failed, skipped = (sum(int(row[i] or 0) for row in rows) for i in range(3))
    if program["result"] == SKIP:
        skipped = max(skipped, 1)
    elif not rows or (program["result"] != "OK" and failed == 0):
        failed += 1  # it died, hung, leaked, or never told how many tests it ran
    return passed, failed, skipped


def show(program):
    print(f"---- {program['name']}: {program['result']}, exit code {program['returncode']}, "
          f"{program['duration']:.1f} s", file=sys.stderr)
    for stream in ("stdout", "stderr"):
        text = "\n".join(line for line in program.get(stream, "").splitlines() if NOISE not in line)
        if text:
            print(text[-20000:], file=sys.stderr)


def main():
    with open(sys.argv[1], encoding="utf-8") as log:
        programs = [json.loads(line) for line in log]
    sums = [0, 0, 0]
    for program in programs:
        numbers = list(tally(program))
        if os.environ.get("CI") and numbers[2]:  # where nobody reads along, a skipped test is a lost one
            numbers[1:] = [numbers[1] + numbers[2], 0]
        if numbers[1] or numbers[2]:
            show(program)
        sums = [a + b for a, b in zip(sums, numbers)]
    if not programs:
        print("no test of that name was run", file=sys.stderr)
        sums[1] = 1
    print(*sums)


if __name__ == "__main__":
    main()
