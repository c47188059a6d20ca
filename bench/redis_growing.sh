#!/bin/bash
# Growing filters in Redis: small steps (factor 1.39, filters of format 1) compared with large ones (4,
# then 2), side by side on one server.
#   bench/redis_growing.sh SEEN [KEYS]
# Prints for each: layers, memory of the server, and for lookups of absent keys in batches the commands
# and bytes per key and the CPU time of the server per key.
set -eu
seen=$1 keys=${2:-1000000}
dir=$(mktemp -d)
trap 'kill $pid 2> /dev/null; wait $pid 2> /dev/null; rm -rf "$dir"' EXIT
failed() { cat "$dir/log" >&2; exit 2; }
port=$((20000 + RANDOM % 12000)) # below the ports of connections
redis-server --port $port --bind 127.0.0.1 --save '' --dir "$dir" > "$dir/log" 2>&1 & pid=$!
until redis-cli -p $port INFO server 2> /dev/null | grep -q "process_id:$pid"; do
    kill -0 $pid 2> /dev/null || failed
    sleep 0.05
done
stat() { redis-cli -p $port INFO all | tr -d '\r' | awk -F: -v f="$1" '$1 == f { print $2 }'; }
seq "$keys" > "$dir/keys"
seq $((keys + 1)) $((keys + 200000)) > "$dir/absent"
echo "growing, $keys keys at 1%, and 200000 lookups of absent keys:"
printf '%-6s %7s %12s %14s %12s %12s %10s\n' steps layers 'memory MiB' 'commands/key' 'bytes out' 'bytes back' 'µs/key'
for steps in short long; do
    where=redis://127.0.0.1:$port/$steps
    before=$(stat used_memory)
    "$seen" create -q "$where" --growth growing -p 1%
    redis-cli -p $port HSET seen:$steps steps $steps > /dev/null
    "$seen" add -q "$where" "$dir/keys"
    memory=$(($(stat used_memory) - before))
    c=$(stat total_commands_processed) in=$(stat total_net_input_bytes) out=$(stat total_net_output_bytes)
    cpu=$(stat used_cpu_user_main_thread)
    "$seen" check -q "$where" "$dir/absent" > /dev/null || [ $? = 1 ]
    awk -v s=$steps -v l="$(redis-cli -p $port HGET seen:$steps layers)" -v m=$memory \
        -v c=$(($(stat total_commands_processed) - c)) -v i=$(($(stat total_net_input_bytes) - in)) \
        -v o=$(($(stat total_net_output_bytes) - out)) -v a="$cpu" -v b="$(stat used_cpu_user_main_thread)" \
        'BEGIN { n = 200000; printf "%-6s %7d %12.1f %14.1f %12.0f %12.0f %10.2f\n", s, l, m / 1048576, c / n, i / n, o / n, (b - a) / n * 1e6 }'
done
