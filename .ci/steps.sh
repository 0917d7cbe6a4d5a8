# What .ci/run and .ci/nightly share: steps with their time, a server, and the result. Sourced from the project's root.
exec </dev/null
export CI=true

work=$(mktemp -d)
chmod 711 "$work"
debian_postgres=/usr/lib/postgresql/15/bin
step_names=()
failed_steps=()

as_server_user() {
  if [ "$(id -u)" = 0 ]; then runuser -u nobody -- "$@"; else "$@"; fi
}

# Each server has a folder "$work/server-<port>" that holds its data, its log and the folder of its programs.
stop_servers() {
  local folder
  for folder in "$work"/server-*; do
    [ -f "$folder/data/postmaster.pid" ] && as_server_user "$(cat "$folder/programs")/pg_ctl" -D "$folder/data" -m immediate stop >/dev/null
  done
}
trap 'stop_servers; rm -rf "$work"' EXIT

# start_server <folder of the programs>: sets server_url.
start_server() {
  local programs=$1 port folder
  port=$(node -e 'const s = require("node:net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })') || return 1
  folder=$work/server-$port
  mkdir -p "$folder" && echo "$programs" >"$folder/programs" || return 1
  if [ "$(id -u)" = 0 ]; then chown nobody "$folder" || return 1; fi
  as_server_user "$programs/initdb" -D "$folder/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync >/dev/null || return 1
  # large pages for what a session allocates: test/support/postgres-server.ts
  as_server_user env GLIBC_TUNABLES=glibc.malloc.hugetlb=1 "$programs/pg_ctl" -D "$folder/data" -l "$folder/log" -w -t 120 start -o "-p $port -k $folder \
    -c listen_addresses=127.0.0.1 -c wal_level=logical -c fsync=off -c synchronous_commit=off -c full_page_writes=off -c autovacuum=off \
    -c max_connections=200 -c max_replication_slots=40 -c max_wal_senders=40 -c timezone=UTC" >/dev/null || { cat "$folder/log"; return 1; }
  server_url="postgres://postgres@127.0.0.1:$port/postgres"
}

# Sets tarball.
pack() {
  npm pack --silent --ignore-scripts --pack-destination "$work" && tarball=$(echo "$work"/*.tgz)
}

slug() { echo "$1" | tr -c 'a-zA-Z0-9\n' '-'; }

timed() {
  local name=$1 start=$SECONDS status=0
  shift
  "$@" || status=$?
  echo "$status $((SECONDS - start))" >"$work/step-$(slug "$name")"
  return "$status"
}

note_result() {
  local name=$1 status seconds
  read -r status seconds <"$work/step-$(slug "$name")" || { status=1 seconds=0; }
  step_names+=("$name")
  if [ "$status" = 0 ]; then
    printf '=== %s: ok (%d s)\n' "$name" "$seconds"
  else
    printf '=== %s: FAILED (%d s)\n' "$name" "$seconds"
    failed_steps+=("$name")
  fi
  return "$status"
}

step() {
  printf '\n=== %s\n' "$1"
  timed "$@"
  note_result "$1"
}

in_background() {
  timed "$@" >"$work/log-$(slug "$1")" 2>&1 &
  echo $! >"$work/pid-$(slug "$1")"
}

# Prints what each of these background steps has printed.
wait_for() {
  local name
  for name in "$@"; do
    wait "$(cat "$work/pid-$(slug "$name")")"
    printf '\n=== %s\n' "$name"
    cat "$work/log-$(slug "$name")"
    note_result "$name"
  done
}

# run_tests <name of the report> [vitest options and files]
run_tests() {
  local report=$1
  shift
  npm test -- --reporter=default --reporter=./test/support/wait-reporter.ts --reporter=json --outputFile.json="$work/report-$report.json" "$@"
  local status=$?
  echo "$status" >"$work/status-$report"
  # Failed files run once more before they count.
  [ "$status" = 0 ] || [ -n "$(node .ci/report.mjs failed-files "$work" "$report")" ]
}

run_failed_files_again() {
  local report=$1 files
  files=$(node .ci/report.mjs failed-files "$work" "$report")
  if [ -z "$files" ]; then echo "no file failed"; return; fi
  [ "$report" != postgis ] || export TEST_DATABASE_URL=$server_url
  npm test -- --no-file-parallelism --reporter=default --reporter=json --outputFile.json="$work/report-$report-again.json" $files
}

# finish [names of reports]: prints the result and exits.
finish() {
  local name status seconds
  printf '\n=== result\n'
  for name in "${step_names[@]}"; do
    read -r status seconds <"$work/step-$(slug "$name")"
    printf '%5d s  %s\n' "$seconds" "$name"
  done
  printf '%5d s  in all\n' "$SECONDS"
  if [ ${#failed_steps[@]} -gt 0 ]; then printf 'failed steps: %s\n' "$(IFS=,; echo "${failed_steps[*]}")"; fi
  node .ci/report.mjs result "$work" "$@" && [ ${#failed_steps[@]} -eq 0 ] && [ $# -gt 0 ]
  exit
}
