package seen

/*
#include "shim.h"
*/
import "C"

import (
	"errors"
	"io/fs"
	"sync"
	"unsafe"
)

// Keys of one call of C.
const batchKeys = 1024

// Batch collects keys in one piece of memory and adds or looks them up in one call. It can be used
// again and again without allocation. A Batch is for one goroutine.
type Batch struct {
	set     *Set
	arena   []byte
	ends    []uint64
	answers []byte
}

// NewBatch makes an empty batch.
func (s *Set) NewBatch() *Batch { return &Batch{set: s} }

// Append appends a key.
func (b *Batch) Append(key []byte) {
	b.arena = append(b.arena, key...)
	b.ends = append(b.ends, uint64(len(b.arena)))
}

// AppendString appends a key.
func (b *Batch) AppendString(key string) {
	b.arena = append(b.arena, key...)
	b.ends = append(b.ends, uint64(len(b.arena)))
}

// Len is the number of keys.
func (b *Batch) Len() int { return len(b.ends) }

// Reset forgets the keys.
func (b *Batch) Reset() { b.arena, b.ends = b.arena[:0], b.ends[:0] }

// Add adds the keys. The result has a byte for each key: 0 if it was new, 1 if it was present, 2 if it
// was not decided because of an error. It is valid until the next call.
func (b *Batch) Add() ([]byte, error) { return b.run(C.SHIM_ADD) }

// Has looks the keys up; the result is as for Add.
func (b *Batch) Has() ([]byte, error) { return b.run(C.SHIM_CHECK) }

func (b *Batch) run(what C.int) ([]byte, error) {
	count := len(b.ends)
	if cap(b.answers) < count {
		b.answers = make([]byte, count)
	}
	answers := b.answers[:count]
	if count == 0 {
		return answers, nil
	}
	arena := b.arena
	if len(arena) == 0 {
		arena = empty
	}
	b.set.lock.RLock()
	defer b.set.lock.RUnlock()
	if b.set.handle == nil {
		return nil, fs.ErrClosed
	}
	return answers, failure(C.shim_many(b.set.handle, what, (*C.char)(unsafe.Pointer(&arena[0])),
		(*C.uint64_t)(unsafe.Pointer(&b.ends[0])), C.size_t(count), (*C.seen_answer)(unsafe.Pointer(&answers[0]))))
}

var batches = sync.Pool{New: func() interface{} { return new(Batch) }}

func (s *Set) many(what C.int, yes byte, keys []string, out []bool) error {
	if out != nil && len(out) < len(keys) {
		return errors.New("seen: fewer places for answers than keys")
	}
	b := batches.Get().(*Batch)
	defer func() {
		b.set = nil
		batches.Put(b)
	}()
	b.set = s
	for at := 0; at < len(keys); at += batchKeys {
		end := at + batchKeys
		if end > len(keys) {
			end = len(keys)
		}
		b.Reset()
		for _, key := range keys[at:end] {
			b.AppendString(key)
		}
		answers, err := b.run(what)
		for i := range answers {
			if out != nil {
				out[at+i] = answers[i] == yes
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// AddMany adds keys; isNew[i] becomes true if keys[i] was not present. isNew may be nil. After an error
// the keys that isNew reports were added.
func (s *Set) AddMany(keys []string, isNew []bool) error { return s.many(C.SHIM_ADD, 0, keys, isNew) }

// HasMany looks keys up; has[i] becomes true if keys[i] is present.
func (s *Set) HasMany(keys []string, has []bool) error { return s.many(C.SHIM_CHECK, 1, keys, has) }
