<?php
declare(strict_types=1);
require __DIR__ . '/Seen.php';

function same($got, $expected, string $what): void
{
    if ($got !== $expected) {
        fprintf(STDERR, "%s: %s, not %s\n", $what, var_export($got, true), var_export($expected, true));
        exit(1);
    }
}

function fails(int $code, callable $call): void
{
    try {
        $call();
    } catch (SeenException $e) {
        same($e->getCode(), $code, $e->getMessage());
        return;
    }
    same('no exception', $code, 'fails');
}

// The structs are those of seen.h (sizes from a C program).
foreach (['seen_options', 'seen_info', 'seen_error', 'seen_key'] as $i => $type) {
    same(FFI::sizeof(Seen::ffi()->new($type)), (int)$argv[2 + $i], "sizeof($type)");
}

$dir = $argv[1];
$set = Seen::memory(['capacity' => 1000]);
same($set->add('é'), true, 'new');
same($set->add("\xc3\xa9"), false, 'the same bytes');
same($set->has('é'), true, 'present');
same($set->add(''), true, 'the empty key');
same($set->has("a\0b"), false, 'absent');
same($set->add("a\0b"), true, 'a key with a NUL');
same($set->has('a'), false, 'its beginning');
same($set->new(['x', 'y', 'x', 'é']), ['x', 'y'], 'new()');
same(Seen::memory()->info()['growth'], 'growing', 'default');

$path = "$dir/php.seen";
fails(SeenException::NOT_FOUND, fn() => Seen::open($path, 'r'));
$file = Seen::open($path, 'c', ['capacity' => 100]);
fails(SeenException::EXISTS, fn() => Seen::open($path, 'x'));
fails(SeenException::MISMATCH, fn() => Seen::open($path, 'c', ['capacity' => 7]));
same(Seen::open($path)->info()['capacity'], 100, 'opened as it is');
fails(SeenException::PERMISSION, fn() => Seen::open($path, 'r')->add('x'));
fails(SeenException::KIND, fn() => $file->remove('x'));
fails(SeenException::FULL, function () use ($file) {
    for ($i = 0; $i < 5000; $i++) {
        $file->add("k$i");
    }
});
$counting = Seen::memory(['capacity' => 100, 'kind' => 'counting']);
$counting->add('a');
same([$counting->remove('a'), $counting->remove('a')], [true, false], 'remove');
$file->sync();
$file->close();
try {
    $file->add('x');
    exit(1);
} catch (LogicException $e) {
    same($e->getMessage(), 'the set is closed', 'closed');
}
if (function_exists('pcntl_fork')) {
    $shared = Seen::open($path, 'n', ['error_rate' => 1e-9]);
    $child = pcntl_fork();
    if ($child === 0) {
        try {
            $shared->add('x');
        } catch (SeenException $e) {
            exit($e->getCode() === SeenException::FORKED ? 0 : 1);
        }
        exit(1);
    }
    pcntl_waitpid($child, $status);
    same(pcntl_wexitstatus($status), 0, 'fork');
}
Seen::drop($path);
same(file_exists($path), false, 'drop');

$before = null;
for ($round = 0; $round < 30; $round++) {
    for ($i = 0; $i < 5000; $i++) {
        $set->has("key$i");
    }
    try {
        Seen::open('/no/such/file', 'r');
    } catch (SeenException) {
    }
    if ($round === 5) {
        $before = memory_get_usage();
    }
}
same(memory_get_usage() - $before < 100000, true, 'memory stays flat');
echo "php: ok\n";
