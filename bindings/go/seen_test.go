package seen

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func keysOf(n int, prefix string) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("%s%d", prefix, i)
	}
	return keys
}

func TestOneKey(t *testing.T) {
	s, err := New(Options{Capacity: 100})
	must(t, err)
	for i, want := range []bool{true, false} {
		got, err := s.AddString("key")
		must(t, err)
		if got != want {
			t.Fatalf("add %d: %v", i, got)
		}
	}
	if has, _ := s.Has([]byte("key")); !has {
		t.Fatal("a key is lost")
	}
	if isNew, _ := s.Add(nil); !isNew {
		t.Fatal("the empty key")
	}
	if has, _ := s.HasString(""); !has {
		t.Fatal("the empty key is lost")
	}
	must(t, s.Close())
	if _, err := s.AddString("x"); err != fs.ErrClosed {
		t.Fatal("a closed set: ", err)
	}
	if err := s.AddMany([]string{"x"}, nil); err != fs.ErrClosed {
		t.Fatal("a closed set: ", err)
	}
}

func TestBatchIsLikeOneByOne(t *testing.T) {
	seed := [2]uint64{1, 2}
	one, _ := New(Options{Capacity: 10000, Seed: &seed})
	many, _ := New(Options{Capacity: 10000, Seed: &seed})
	keys := append(keysOf(3000, "a"), keysOf(2000, "a")...)
	isNew := make([]bool, len(keys))
	must(t, many.AddMany(keys, isNew))
	for i, key := range keys {
		if got, _ := one.AddString(key); got != isNew[i] {
			t.Fatal("key ", i)
		}
	}
	a, _ := one.MarshalBinary()
	b, _ := many.MarshalBinary()
	if !bytes.Equal(a, b) {
		t.Fatal("other bits")
	}
	has := make([]bool, len(keys))
	must(t, many.HasMany(keys, has))
	for i := range has {
		if !has[i] {
			t.Fatal("a key is lost")
		}
	}
	batch := many.NewBatch()
	batch.AppendString("a1")
	batch.Append([]byte("not there"))
	if answers, err := batch.Has(); err != nil || answers[0] != 1 || answers[1] != 0 {
		t.Fatal(answers, err)
	}
	if many.AddMany(keys, make([]bool, 3)) == nil {
		t.Fatal("too few places")
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	if _, err := Open(path, os.O_RDWR, Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	s, err := Create(path, Options{Capacity: 100})
	must(t, err)
	if _, err := Create(path, Options{}); !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	if _, err := Open(path, os.O_RDWR|os.O_CREATE, Options{Capacity: 7}); !errors.Is(err, ErrMismatch) {
		t.Fatal(err)
	}
	if _, err := Open(path, os.O_RDWR|os.O_CREATE, Options{}); err != nil {
		t.Fatal(err)
	}
	err = s.AddMany(keysOf(5000, "k"), nil)
	var full *Error
	if !errors.Is(err, ErrFull) || !errors.As(err, &full) || full.Status != 8 {
		t.Fatal(err)
	}
	if _, err := s.Remove([]byte("k1")); !errors.Is(err, ErrKind) {
		t.Fatal(err)
	}
	read, err := Open(path, os.O_RDONLY, Options{})
	must(t, err)
	if _, err := read.AddString("x"); !errors.Is(err, fs.ErrPermission) {
		t.Fatal(err)
	}
	if _, err := New(Options{ErrorRate: 5}); !errors.Is(err, ErrArgument) {
		t.Fatal(err)
	}
	if _, err := FromBytes([]byte("no")); !errors.Is(err, ErrFormat) {
		t.Fatal(err)
	}
	if _, err := FromBytes(nil); !errors.Is(err, ErrFormat) {
		t.Fatal(err)
	}
	must(t, s.Close())
	must(t, Drop(path))
}

func TestBytesMergeWindow(t *testing.T) {
	a, _ := New(Options{Capacity: 1000})
	must(t, a.AddMany(keysOf(100, "a"), nil))
	b, err := a.Like()
	must(t, err)
	b.AddString("b")
	must(t, a.Merge(b))
	var out bytes.Buffer
	_, err = a.WriteTo(&out)
	must(t, err)
	c, err := ReadFrom(&out)
	must(t, err)
	if has, _ := c.HasString("b"); !has {
		t.Fatal("lost on the way")
	}
	info, err := c.Info()
	must(t, err)
	if info.KeysEstimated < 95 || info.KeysEstimated > 107 || info.Store != "memory" {
		t.Fatal(info)
	}
	w, err := New(Options{Capacity: 100, Window: time.Hour, Generations: 4})
	must(t, err)
	w.AddString("a")
	for i := 0; i < 4; i++ {
		must(t, w.Rotate())
	}
	if has, _ := w.HasString("a"); has {
		t.Fatal("not forgotten")
	}
}

func TestOneWinnerBetweenGoroutines(t *testing.T) {
	file, err := Create(filepath.Join(t.TempDir(), "x"), Options{ErrorRate: 1e-9})
	must(t, err)
	memory, _ := New(Options{ErrorRate: 1e-9})
	keys := keysOf(5000, "https://example.org/")
	for _, s := range []*Set{memory, file} {
		var wins int64
		var group sync.WaitGroup
		for g := 0; g < 6; g++ {
			group.Add(1)
			go func(g int) {
				defer group.Done()
				isNew := make([]bool, len(keys))
				if g%2 == 0 {
					if err := s.AddMany(keys, isNew); err != nil {
						t.Error(err)
					}
				} else {
					for i, key := range keys {
						isNew[i], _ = s.AddString(key)
					}
				}
				for _, n := range isNew {
					if n {
						atomic.AddInt64(&wins, 1)
					}
				}
			}(g)
		}
		group.Wait()
		if wins != int64(len(keys)) {
			t.Fatalf("%d winners for %d keys", wins, len(keys))
		}
		must(t, s.Close())
	}
}

// SEEN_BENCH_KEYS is the capacity of the set; the keys come from a tenth of it, so that a run meets each many times.
func benchSet() (*Set, []string) {
	n, err := strconv.Atoi(os.Getenv("SEEN_BENCH_KEYS"))
	if err != nil || n < 10 {
		n = 1000000
	}
	s, _ := New(Options{Capacity: uint64(n), GoOnWhenFull: true})
	return s, keysOf(n/10, "https://example.org/a/page/with/64/bytes/of/address/in/it/000")
}

func BenchmarkAddString(b *testing.B) {
	s, keys := benchSet()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		s.AddString(keys[i%len(keys)])
	}
}

func BenchmarkAddMany(b *testing.B) {
	s, keys := benchSet()
	isNew := make([]bool, len(keys))
	b.ResetTimer()
	for done := 0; done < b.N; done += len(keys) {
		n := b.N - done
		if n > len(keys) {
			n = len(keys)
		}
		s.AddMany(keys[:n], isNew)
	}
}
