# suites.sh -- ./dev test: builds what the suites need, runs them, adds up single tests. Sourced by ./dev.
#
# Every test program says `NAME: N passed, M failed`; tests/support/tally.py sums those lines from meson's log. A program
# that ends without its line, or a suite that runs nothing, counts as one failure.
# SPDX-License-Identifier: MIT
# shellcheck shell=bash

SUITES=(static unit fuzz e2e live ucontext valgrind lint package)
ALL_PASSED=0 ALL_FAILED=0 ALL_SKIPPED=0

cmd_test()
{
    trap cut_short EXIT
    need test
    [ $# -gt 0 ] || set -- "${SUITES[@]}"
    # Sanitizers and valgrind are slow, and other work may share the machine: a test that hangs still ends.
    export CK_DEFAULT_TIMEOUT=120
    export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:abort_on_error=0
    export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
    local what
    for what in "$@"; do
        if [[ " ${SUITES[*]} " == *" $what "* ]]; then
            "suite_$what"
        else
            single_test "$what"
        fi
    done
    finish
}

# A build or an installation that fails ends the run, and is a failure in the sum.
cut_short()
{
    ALL_FAILED=$((ALL_FAILED + 1))
    finish
}

finish()
{
    trap - EXIT
    local line="$ALL_PASSED passed, $ALL_FAILED failed"
    [ "$ALL_SKIPPED" -eq 0 ] || line+=", $ALL_SKIPPED skipped"
    echo "$line"
    [ "$ALL_FAILED" -eq 0 ] && [ "$ALL_PASSED" -gt 0 ]
}

# count NAME SECONDS PASSED FAILED [SKIPPED] -- adds one suite's tests to the sum, and reports it.
count()
{
    ALL_PASSED=$((ALL_PASSED + $3)) ALL_FAILED=$((ALL_FAILED + $4)) ALL_SKIPPED=$((ALL_SKIPPED + ${5:-0}))
    printf '%-9s %5d ok %5d bad %5d s\n' "$1" "$3" "$4" "$2"
}

compile_asan()
{
    compile asan -Db_sanitize=address,undefined
}

# meson_suite NAME DIR ARG… -- runs `meson test ARG…` in build/DIR and counts what its programs say.
meson_suite()
{
    local name=$1 dir=build/$2 began=$SECONDS numbers log
    shift 2
    log=$dir/meson-logs/$name.json
    [ "$name" != valgrind ] || log=${log%.json}-valgrind.json # meson adds the wrapper's name
    rm -f "$log"
    meson test -C "$dir" --no-rebuild --logbase "$name" "$@" >"$dir/$name.out" 2>&1 </dev/null || true
    numbers=$(python3 tests/support/tally.py "$log") || {
        cat "$dir/$name.out" >&2
        numbers='0 1 0'
    }
    # shellcheck disable=SC2086 # three numbers
    count "$name" $((SECONDS - began)) $numbers
}

single_test()
{
    compile_asan
    meson test -C build/asan --list 2>/dev/null | sed 's/.* \/ //' | grep -qxF -- "$1" ||
        die "no suite and no test is named '$1'; suites: ${SUITES[*]}; tests: meson test -C build/asan --list"
    meson_suite "$1" asan --timeout-multiplier 4 "$1"
}

suite_unit()
{
    compile_asan
    meson_suite unit asan --timeout-multiplier 4 --suite unit
}

suite_static()
{
    compile_asan
    meson_suite static asan --suite static
}

suite_fuzz()
{
    compile_asan
    meson_suite fuzz asan --timeout-multiplier 4 --suite fuzz
}

# One at a time: each starts servers of its own, and measures how soon they answer.
suite_e2e()
{
    need_node_modules
    compile_asan
    meson_suite e2e asan --timeout-multiplier 4 --num-processes 1 --suite e2e
}

# One at a time: each starts an Azurite of its own, which has a core's worth of work to do.
suite_live()
{
    need_node_modules
    compile_asan
    meson_suite live asan --timeout-multiplier 4 --num-processes 1 --suite live
}

# The other way to switch stacks, for the suites that do.
suite_ucontext()
{
    NINJA_TARGET=tests/unit compile ucontext -Db_sanitize=address,undefined -Dfiber=ucontext
    meson_suite ucontext ucontext --timeout-multiplier 4 fiber loop task canonical http_server fetch
}

# CK_FORK=no: one process a suite, so that valgrind sees its leaks at exit.
suite_valgrind()
{
    NINJA_TARGET=tests/unit compile plain --buildtype=debugoptimized
    local valgrind='valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,possible'
    CK_FORK=no meson_suite valgrind plain --timeout-multiplier 10 --wrapper "$valgrind" --suite unit
}

# script_suite NAME COMMAND… -- a suite that is one script; its own closing line has the numbers.
script_suite()
{
    local name=$1 began=$SECONDS log=build/$1.out line
    shift
    mkdir -p build
    local result=0
    "$@" >"$log" 2>&1 </dev/null || result=$?
    line=$(grep -E "^$name: [0-9]+ passed, [0-9]+ failed$" "$log" | tail -n 1) || line="$name: 0 passed, 1 failed"
    read -r _ passed _ failed _ <<<"$line"
    [ "$result" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
    if [ "$failed" -gt 0 ]; then
        cat "$log" >&2
        say "$name ended with exit code $result"
    fi
    count "$name" $((SECONDS - began)) "$passed" "$failed"
}

suite_lint()
{
    compile plain --buildtype=debugoptimized
    script_suite lint tests/support/lint
}

suite_package()
{
    build_release
    script_suite package tests/package/run
}
