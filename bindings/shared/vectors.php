<?php
// Plays the table of test vectors: php vectors.php TABLE FOLDER. See README.md.
require 'Seen.php';

foreach (file($argv[1], FILE_IGNORE_NEW_LINES) as $line) {
    $words = explode(' ', $line);
    if ($words[0] === 'set') {
        [, $name, $capacity, $rate, $kind, $hash, $low, $high] = $words;
        $set = Seen::open("$argv[2]/$name.seen", 'x', ['capacity' => (int)$capacity, 'error_rate' => (float)$rate,
            'kind' => $kind, 'hash' => $hash, 'seed' => [(int)$low, (int)$high]]);
        continue;
    }
    $key = hex2bin($words[1]);
    if (($words[0] === 'add' ? $set->add($key) : $set->has($key)) !== ($words[2] === '1')) {
        fwrite(STDERR, "PHP: $line\n");
        exit(1);
    }
}
