# For scripts that do one thing after another, tell what failed, and sum up at the end. Sourced by
# tools/check and .ci/run.
#
#   step NAME COMMAND...    runs it, with a heading, its time and its outcome
#   summary                 prints one line for each step; fails if any did

jobs=${JOBS:-$(nproc)}
step_lines=()
failed_steps=0

# Compilations that were done before, here or in another checkout of the same tree, are not repeated.
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
fi

configure() {  # PRESET [cmake argument...]
  local preset=$1
  shift
  cmake --preset "$preset" "$@" >"build/$preset.configure.log" 2>&1 || {
    cat "build/$preset.configure.log"
    return 1
  }
}

step() {  # NAME COMMAND...
  local name=$1 begin=$SECONDS outcome=ok
  shift
  printf '\n==== %s\n' "$name"
  "$@" || outcome=FAILED
  [ "$outcome" = ok ] || failed_steps=$((failed_steps + 1))
  step_lines+=("$(printf '%-7s %5d s  %s' "$outcome" $((SECONDS - begin)) "$name")")
  printf '==== %s: %s after %d s\n' "$name" "$outcome" $((SECONDS - begin))
}

summary() {
  printf '\n==== summary\n'
  printf '%s\n' "${step_lines[@]}"
  [ "$failed_steps" -eq 0 ]
}

mkdir -p build
