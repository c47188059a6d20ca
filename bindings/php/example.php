<?php
// Prints each line of its input the first time that it appears, across runs: php example.php FILTER < lines
require __DIR__ . '/Seen.php';

$set = Seen::open($argv[1], 'c', ['error_rate' => 1e-6]);
while (($line = fgets(STDIN)) !== false) {
    if ($set->add(rtrim($line, "\n"))) {
        echo $line;
    }
}
$set->sync();
