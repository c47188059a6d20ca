#!/bin/sh
# The long tests of shared crawls (make fleet-test): fleet_long.sh SEEN [SEEDS]
# 20 kills and 2 stalls per seed (50 seeds: 1,000 kills), failovers of a replica, a cluster that is
# resharded. Prints a line per run; status 1 if one of them failed.
seen=$1 seeds=${2:-50} here=$(dirname "$0") failed=0
run() {
    printf '%s: ' "$*"
    "$@" || failed=1
}
for seed in $(seq "$seeds"); do
    run python3 "$here/fleet.py" "$seen" --seed "$seed" --kills 20 --stops 2 --pages 5000 --timeout 90 --most-pushed 50
done
for seed in $(seq $((seeds / 10 + 1))); do
    run python3 "$here/fleet_servers.py" "$seen" failover --seed "$seed"
    run python3 "$here/fleet_servers.py" "$seen" reshard --seed "$seed"
    run python3 "$here/fleet_servers.py" "$seen" cluster-failover --seed "$seed"
done
exit $failed
