# Sourced by demo.sh, check.sh and bench.sh: long steps with one line of progress each and a quiet log.
#
#     steps_begin FOLDER TOTAL         where the logs go, how many steps there will be
#     step NAME ABOUT HINT COMMAND...  runs it; ABOUT is how long it takes, HINT what to do when it fails
#     step_show NAME ABOUT HINT COMMAND...  the same, with its output on the terminal
#     early NAME COMMAND...    starts a command beside the steps that follow; `step ... early_end NAME` takes its result
#
# A step counts its own tests when its log holds lines of libtest ("test result: ok. 3 passed; 0 failed") or of our
# runners ("3 passed, 0 failed"), and is one test otherwise. A step that fails without a failed test is one failure.
# What was begun early and not waited for ends with the script.
#
# After a step: step_status (its exit status). passed and failed are the sums; steps_table holds a line for each step with its
# seconds and those of processors (of what was begun early, in the step that takes its result), steps_failures what the failed
# ones' logs say of their failed tests, or their last lines.

# Leaves in processor_seconds what all children that have ended took; not printed, as a subshell would tell of its own.
count_processor_seconds() {
    times >"$logs/times"
    processor_seconds=$(awk 'NR == 2 { split($1 "m" $2, part, /[ms]+/); printf "%.0f", 60 * (part[1] + part[3]) + part[2] + part[4] }' \
        "$logs/times")
}

passed=0 failed=0 step_number=0 step_status=0 steps_table='' steps_failures='' early_ids=''

steps_begin() {
    logs=$1 step_total=$2
    mkdir -p "$logs"
}

count_tests() {
    awk '
        /^test result: / { p += $4; f += $6; seen = 1 }
        /^[0-9]+ passed, [0-9]+ failed/ { p += $1; f += $3; seen = 1 }
        END { if (seen) print p + 0, f + 0 }' "$1"
}

# The lines of a log that name a failed test and say why, at most 60.
failures() {
    awk '
        /^(test .* \.\.\. FAILED|FAIL(ED)?[ :]|--- [^ ]+ at [0-9]+ ranks: |not ok |error(\[|:)|thread .* panicked at|---- .* stdout ----)/ { print; more = 2; next }
        more > 0 { print; more-- }' "$1" | head -n 60
}

finish_step() { # NAME HINT LOG SECONDS
    set -- "$1" "$2" "$3" "$4" $(count_tests "$3")
    if [ "$step_status" = 0 ]; then
        set -- "$1" "$2" "$3" "$4" "${5:-1}" "${6:-0}"
        # A runner that reports failures and exits with 0 is not believed.
        [ "$6" = 0 ] || step_status=1
    else
        set -- "$1" "$2" "$3" "$4" "${5:-0}" "${6:-0}"
        [ "$6" != 0 ] || set -- "$1" "$2" "$3" "$4" "$5" 1
    fi
    passed=$((passed + $5)) failed=$((failed + $6))
    if [ "$step_status" = 0 ]; then word=ok; else word=FAILED; fi
    count_processor_seconds
    steps_table="$steps_table$(printf '  %-6s %5s s %5s s cpu  %6s passed %4s failed   %s' \
        "$word" "$4" "$((processor_seconds - begin_processor_seconds))" "$5" "$6" "$1")
"
    echo "$word, $4 s"
    if [ "$step_status" != 0 ]; then
        echo "      the end of $3:"
        # The parts of libtest and of our runners that name what failed may stand far above the end.
        { failures "$3"; tail -n 25 "$3"; } | sed 's/^/      | /'
        named=$(failures "$3")
        steps_failures="$steps_failures$({ [ -n "$named" ] && echo "$named" || tail -n 5 "$3"; } | sed "s/^/  $1: /")
"
        echo "      what to do: $2"
    fi
}

step() {
    title=$1 about=$2 hint=$3
    shift 3
    step_number=$((step_number + 1))
    log=$logs/$(printf %02d "$step_number")-$(printf %s "$title" | tr -c 'A-Za-z0-9\n' '-').log
    printf '[%d/%d] %s (%s) ... ' "$step_number" "$step_total" "$title" "$about"
    count_processor_seconds
    begin=$(date +%s) begin_processor_seconds=$processor_seconds step_status=0
    "$@" >"$log" 2>&1 </dev/null || step_status=$?
    finish_step "$title" "$hint" "$log" $(($(date +%s) - begin))
}

step_show() {
    title=$1 about=$2 hint=$3
    shift 3
    step_number=$((step_number + 1))
    printf '[%d/%d] %s (%s)\n' "$step_number" "$step_total" "$title" "$about"
    step_status=0
    "$@" </dev/null || step_status=$?
    if [ "$step_status" != 0 ]; then echo "      failed; what to do: $hint"; failed=$((failed + 1)); fi
}

early() {
    name=$1
    shift
    "$@" >"$logs/early-$name.log" 2>&1 </dev/null &
    eval "early_$name=$!"
    early_ids="$early_ids $!"
    # A script's background jobs do not hear an interrupt.
    trap 'kill $early_ids 2>/dev/null || true' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
}

early_end() {
    eval "id=\$early_$1"
    early_status=0
    wait "$id" || early_status=$?
    early_ids=$(echo "$early_ids " | sed "s/ $id / /; s/ \$//")
    cat "$logs/early-$1.log"
    return "$early_status"
}

# step_must ...: a step without which the rest makes no sense.
step_must() {
    step "$@"
    if [ "$step_status" != 0 ]; then
        echo "$passed passed, $failed failed"
        exit 1
    fi
}
