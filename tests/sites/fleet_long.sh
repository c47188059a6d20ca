#!/bin/sh
# The long tests of shared crawls (make fleet-test): fleet_long.sh SEEN [SEEDS]
# 21 kills and 2 stalls per seed (50 seeds: at least 1,000 kills, as some crawls end before the last); crawls with
# --max-pages, exact in spite of kills; 100 failovers of a master with a replica; 20 failovers of
# the masters of a cluster; partitions, as root; a cluster whose slots all move; kill -9 of a server that syncs every write. Prints a line per run; status 1 if one of them failed.
seen=$1 seeds=${2:-50} here=$(dirname "$0") failed=0
run() {
    printf '%s: ' "$*"
    "$@" || failed=1
}
for seed in $(seq "$seeds"); do
    run python3 "$here/fleet.py" "$seen" --seed "$seed" --kills 21 --stops 2 --pages 5000 --latency 8 --timeout 90 --most-pushed 50 --bound
done
few=$((seeds / 10)) polite='--hosts 40 --delay 40 --bound'
for seed in $(seq "$few"); do
    run python3 "$here/fleet.py" "$seen" --seed "$seed" --kills 10 --pages 3000 --max-pages 1000 --latency 8 --bound
    run python3 "$here/fleet_servers.py" "$seen" failover --times 20 --pages 14000 --workers 4 --seed "$seed" $polite
    run python3 "$here/fleet_servers.py" "$seen" cluster-failover --times 4 --pages 10000 --seed "$seed" $polite
done
if [ "$(id -u)" = 0 ] && ip netns list > /dev/null 2>&1; then
    for seed in $(seq "$few"); do
        run python3 "$here/fleet_net.py" "$seen" redis --times 3 --pages 8000 --hosts 60 --delay 60 --bound --seed "$seed"
        run python3 "$here/fleet_net.py" "$seen" web --times 3 --pages 8000 --hosts 60 --delay 60 --bound --seed "$seed"
        run python3 "$here/fleet_net.py" "$seen" split --times 2 --pages 8000 --hosts 60 --delay 60 --workers 4 --bound --seed "$seed" \
            --timeout 120
    done
fi
run python3 "$here/fleet_servers.py" "$seen" reshard --pages 30000 --most-twice 0 $polite
run python3 "$here/fleet_servers.py" "$seen" restart --times 10 --pages 8000 $polite
exit $failed
