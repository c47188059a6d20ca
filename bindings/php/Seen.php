<?php
declare(strict_types=1);

/**
 * libseen by FFI: one file, nothing to build. ffi.enable must allow it (the command line does; for
 * php-fpm use ffi.preload or ffi.enable=1). The library is libseen.so.0, or SEEN_LIBRARY.
 *
 *     $visited = Seen::open('visited.seen');
 *     if ($visited->add($url)) { fetch($url); }      // true if the key is new
 *
 * Keys are PHP strings, that is bytes. After pcntl_fork() the child opens the set again.
 */
final class SeenException extends RuntimeException
{
    public const EXISTS = 5, NOT_FOUND = 6, MISMATCH = 7, FULL = 8, KIND = 9, PERMISSION = 10, FORKED = 16;
}

final class Seen
{
    private const HEADER = <<<'C'
        typedef struct { int status; char message[500]; } seen_error;
        typedef struct seen_set seen_set;
        typedef struct { const char *data; size_t len; } seen_key;
        typedef struct {
            size_t size;
            int kind, growth, hash, when_full;
            uint64_t capacity;
            double error_rate;
            uint64_t bits;
            uint32_t hashes;
            bool seed_given;
            uint64_t seed[2];
            uint32_t generations;
            uint64_t window_seconds;
            bool renew;
            int layout;
            uint64_t ttl_seconds;
            uint32_t connect_ms, command_ms, retry_ms;
            const char *tls_ca, *tls_cert, *tls_key;
            const char *note;
        } seen_options;
        typedef struct {
            size_t size;
            int kind, growth, hash, when_full;
            const char *store;
            uint64_t capacity;
            double error_rate;
            uint64_t bits, bytes;
            uint32_t hashes, spread, probes, layers;
            uint64_t shards;
            uint64_t seed[2];
            uint32_t format_version, generations;
            uint64_t window_seconds;
            bool renew;
            double fill, keys_estimated, error_rate_now;
            bool sampled;
            char note[256];
        } seen_info;
        int seen_create(const char *where, const seen_options *options, unsigned flags, seen_set **set, seen_error *error);
        int seen_open(const char *where, const seen_options *options, unsigned flags, seen_set **set, seen_error *error);
        int seen_drop(const char *where, const seen_options *options, seen_error *error);
        int seen_add(seen_set *set, const char *key, size_t len, uint8_t *answer, seen_error *error);
        int seen_check(seen_set *set, const char *key, size_t len, uint8_t *answer, seen_error *error);
        int seen_remove(seen_set *set, const char *key, size_t len, uint8_t *answer, seen_error *error);
        int seen_sync(seen_set *set, seen_error *error);
        int seen_get_info(seen_set *set, seen_info *info, seen_error *error);
        void seen_close(seen_set *set);
        C;
    private const REPLACE = 1, IF_ABSENT = 2, READ_ONLY = 4, ALONE = 8;
    private const CHOICES = ['kind' => ['bloom', 'counting'], 'hash' => ['xxh3', 'siphash'], 'when_full' => ['refuse', 'go on']];

    private static ?FFI $ffi = null;
    private ?FFI\CData $set = null;
    private FFI\CData $error;
    private FFI\CData $answer;

    private function __construct()
    {
        $this->error = self::ffi()->new('seen_error');
        $this->answer = self::ffi()->new('uint8_t');
    }

    public static function ffi(): FFI
    {
        return self::$ffi ??= FFI::cdef(self::HEADER, getenv('SEEN_LIBRARY') ?: 'libseen.so.0');
    }

    /** A set in memory. Options: capacity (without it the set grows), error_rate, kind, hash, when_full, seed, window, window_seconds, bits, hashes. */
    public static function memory(array $options = []): self
    {
        return (new self())->start(null, $options, 0, true);
    }

    /** A file or redis:// address. Mode: r read only; w must exist; c create if missing; n create, replacing; x create, must not exist. */
    public static function open(string $where, string $mode = 'c', array $options = []): self
    {
        $share = ($options['alone'] ?? false) ? self::ALONE : 0;
        unset($options['alone']);
        $made = new self();
        switch ($mode) {
            case 'r':
                return $made->start($where, $options, self::READ_ONLY, false);
            case 'w':
                return $made->start($where, $options, $share, false);
            case 'n':
                return $made->start($where, $options, self::REPLACE | $share, true);
            case 'x':
                return $made->start($where, $options, $share, true);
            case 'c':
                try {
                    if ($options) {
                        return $made->start($where, $options, self::IF_ABSENT | $share, true);
                    }
                    return $made->start($where, $options, $share, false);
                } catch (SeenException $e) {
                    if ($options || $e->getCode() !== SeenException::NOT_FOUND) {
                        throw $e;
                    }
                    return $made->start($where, $options, self::IF_ABSENT | $share, true);
                }
            default:
                throw new InvalidArgumentException("mode: $mode is not one of r, w, c, n, x");
        }
    }

    private function start(?string $where, array $given, int $flags, bool $create): self
    {
        $ffi = self::ffi();
        $options = $ffi->new('seen_options');
        $options->size = FFI::sizeof($options);
        foreach ($given as $name => $value) {
            if (isset(self::CHOICES[$name])) {
                $index = array_search($value, self::CHOICES[$name], true);
                if ($index === false) {
                    throw new InvalidArgumentException("$name: $value is not one of " . implode(', ', self::CHOICES[$name]));
                }
                $options->$name = $index;
            } elseif ($name === 'seed') {
                $options->seed_given = true;
                [$options->seed[0], $options->seed[1]] = $value;
            } elseif ($name === 'renew') {
                $options->renew = (bool)$value;
            } elseif ($name === 'window') {
                $options->growth = 2;
                $options->generations = $value;
            } elseif (in_array($name, ['capacity', 'error_rate', 'bits', 'hashes', 'window_seconds', 'ttl_seconds', 'connect_ms', 'command_ms', 'retry_ms'], true)) {
                $options->$name = $value;
                if ($name === 'window_seconds') {
                    $options->growth = 2;
                }
            } else {
                throw new InvalidArgumentException("unknown option: $name");
            }
        }
        $set = $ffi->new('seen_set *');
        $call = $create ? 'seen_create' : 'seen_open';
        $this->check($ffi->$call($where, FFI::addr($options), $flags, FFI::addr($set), FFI::addr($this->error)));
        $this->set = $set;
        return $this;
    }

    private function check(int $status): void
    {
        if ($status !== 0) {
            throw new SeenException(FFI::string($this->error->message), $status);
        }
    }

    private function handle(): FFI\CData
    {
        return $this->set ?? throw new LogicException('the set is closed');
    }

    /** True if the key is new; exactly one caller gets true, also between processes. */
    public function add(string $key): bool
    {
        $this->check(self::$ffi->seen_add($this->handle(), $key, strlen($key), FFI::addr($this->answer), FFI::addr($this->error)));
        return $this->answer->cdata === 0;
    }

    public function has(string $key): bool
    {
        $this->check(self::$ffi->seen_check($this->handle(), $key, strlen($key), FFI::addr($this->answer), FFI::addr($this->error)));
        return $this->answer->cdata === 1;
    }

    /** Counting sets only: true if the key was present. */
    public function remove(string $key): bool
    {
        $this->check(self::$ffi->seen_remove($this->handle(), $key, strlen($key), FFI::addr($this->answer), FFI::addr($this->error)));
        return $this->answer->cdata === 1;
    }

    /** @return string[] the keys that are new, in their order; all are added */
    public function new(iterable $keys): array
    {
        $new = [];
        foreach ($keys as $key) {
            if ($this->add((string)$key)) {
                $new[] = $key;
            }
        }
        return $new;
    }

    /** After it returns, what was added survives a power failure. */
    public function sync(): void
    {
        $this->check(self::$ffi->seen_sync($this->handle(), FFI::addr($this->error)));
    }

    /** Reads every bit. */
    public function info(): array
    {
        $info = self::$ffi->new('seen_info');
        $info->size = FFI::sizeof($info);
        $this->check(self::$ffi->seen_get_info($this->handle(), FFI::addr($info), FFI::addr($this->error)));
        return ['kind' => self::CHOICES['kind'][$info->kind], 'growth' => ['fixed', 'growing', 'window'][$info->growth],
            'store' => $info->store, 'capacity' => $info->capacity, 'error_rate' => $info->error_rate,
            'bytes' => $info->bytes, 'layers' => $info->layers, 'fill' => $info->fill,
            'keys_estimated' => $info->keys_estimated, 'error_rate_now' => $info->error_rate_now];
    }

    public function close(): void
    {
        if ($this->set !== null) {
            self::$ffi->seen_close($this->set);
            $this->set = null;
        }
    }

    public function __destruct()
    {
        $this->close();
    }

    public static function drop(string $where): void
    {
        $error = self::ffi()->new('seen_error');
        $status = self::ffi()->seen_drop($where, null, FFI::addr($error));
        if ($status !== 0) {
            throw new SeenException(FFI::string($error->message), $status);
        }
    }
}
