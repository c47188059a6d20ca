// Package seen is a set that stores each key in a few bits: in memory, in a file that processes
// share, or in Redis. "New" is certain; "present" is wrong at the error rate that was chosen when the
// set was created. It is a binding of libseen.
//
//	visited, err := seen.Open("visited.seen", os.O_RDWR|os.O_CREATE, seen.Options{})
//	isNew, err := visited.AddString(url)
//
// A call of C costs about 60 ns: batches (AddMany, Batch) are several times faster.
package seen

/*
#cgo pkg-config: seen
#include "shim.h"
*/
import "C"

import (
	"io"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"time"
	"unsafe"
)

// Kind of a set: Bloom, or Counting, which can remove keys and takes four times the memory.
type Kind int

// Growth of a set. Without a capacity a set grows; Window forgets the oldest keys.
type Growth int

// Hash function: XXH3, or SipHash for keys that an attacker may choose.
type Hash int

const (
	Bloom    Kind = 0
	Counting Kind = 1

	Fixed   Growth = 0
	Growing Growth = 1
	Window  Growth = 2

	XXH3    Hash = 0
	SipHash Hash = 1
)

// Options of a new set; the zero value is a growing set with an error rate of 0.01. For an existing
// set only the last three are used.
type Options struct {
	Capacity     uint64
	ErrorRate    float64
	Kind         Kind
	Growth       Growth
	Hash         Hash
	Seed         *[2]uint64 // nil: random
	Window       time.Duration
	Generations  int
	Bits         uint64
	Hashes       int
	GoOnWhenFull bool
	Renew        bool // window: every addition of a key renews it

	Alone                          bool // file: no other process writes; saves a lock per call
	ConnectTimeout, CommandTimeout time.Duration
}

// Set is a handle. All methods but Close may be called by several goroutines at once; of those that
// add the same new key exactly one is told that it is new, also between processes.
type Set struct {
	lock   sync.RWMutex // held for reading during calls, so that Close waits for them
	handle *C.seen_set
}

const (
	flagReplace  = 1
	flagIfAbsent = 2
	flagReadOnly = 4
	flagAlone    = 8
)

func failure(e *C.seen_error) error {
	if e == nil {
		return nil
	}
	defer C.free(unsafe.Pointer(e))
	return &Error{Status: int(e.status), Message: C.GoString(&e.message[0])}
}

func (o *Options) fill(c *C.seen_options) {
	c.size = C.sizeof_seen_options
	c.kind = C.seen_kind(o.Kind)
	c.growth = C.seen_growth(o.Growth)
	c.hash = C.seen_hash_kind(o.Hash)
	c.capacity = C.uint64_t(o.Capacity)
	c.error_rate = C.double(o.ErrorRate)
	c.bits = C.uint64_t(o.Bits)
	c.hashes = C.uint32_t(o.Hashes)
	c.generations = C.uint32_t(o.Generations)
	c.window_seconds = C.uint64_t(o.Window / time.Second)
	c.connect_ms = C.uint32_t(o.ConnectTimeout / time.Millisecond)
	c.command_ms = C.uint32_t(o.CommandTimeout / time.Millisecond)
	if o.Window > 0 {
		c.growth = C.SEEN_WINDOW
	}
	c.renew = C.bool(o.Renew)
	if o.GoOnWhenFull {
		c.when_full = C.SEEN_FULL_GO_ON
	}
	if o.Seed != nil {
		c.seed_given = true
		c.seed[0], c.seed[1] = C.uint64_t(o.Seed[0]), C.uint64_t(o.Seed[1])
	}
}

func start(where string, o Options, flags C.uint, create bool) (*Set, error) {
	var options C.seen_options
	var set *C.seen_set
	o.fill(&options)
	if o.Alone {
		flags |= flagAlone
	}
	var name *C.char
	if where != "" || !create {
		name = C.CString(where)
		defer C.free(unsafe.Pointer(name))
	}
	if err := failure(C.shim_start(name, &options, flags, C.bool(create), &set)); err != nil {
		return nil, err
	}
	return wrap(set), nil
}

func wrap(set *C.seen_set) *Set {
	s := &Set{handle: set}
	runtime.SetFinalizer(s, func(s *Set) { C.seen_close(s.handle) })
	return s
}

// New makes a set in memory.
func New(o Options) (*Set, error) { return start("", o, 0, true) }

// Create makes a set in a file or in Redis; fs.ErrExist if it already exists.
func Create(where string, o Options) (*Set, error) {
	if where == "" {
		return nil, &Error{Status: 2, Message: "seen: the name is empty; use New for a set in memory"}
	}
	return start(where, o, 0, true)
}

// Open opens a set in a file or in Redis. flag is os.O_RDONLY or os.O_RDWR, with os.O_CREATE to create
// it if it is missing, and os.O_EXCL or os.O_TRUNC as for files.
func Open(where string, flag int, o Options) (*Set, error) {
	switch {
	case flag&os.O_CREATE == 0 && flag&(os.O_RDWR|os.O_WRONLY) == 0:
		return start(where, o, flagReadOnly, false)
	case flag&os.O_CREATE == 0:
		return start(where, o, 0, false)
	case flag&os.O_EXCL != 0:
		return Create(where, o)
	case flag&os.O_TRUNC != 0:
		return start(where, o, flagReplace, true)
	}
	if where == "" {
		return Create(where, o)
	}
	if o.plain() { // without parameters, an existing set is opened as it is
		if s, err := start(where, o, 0, false); err == nil || kindOf(err) != fs.ErrNotExist {
			return s, err
		}
	}
	s, err := start(where, o, flagIfAbsent, true)
	if kindOf(err) == ErrMismatch && o.plain() { // another process was faster
		return start(where, o, 0, false)
	}
	return s, err
}

func (o *Options) plain() bool {
	return o.Capacity == 0 && o.ErrorRate == 0 && o.Kind == 0 && o.Growth == 0 && o.Hash == 0 && o.Seed == nil &&
		o.Window == 0 && o.Generations == 0 && o.Bits == 0 && o.Hashes == 0 && !o.GoOnWhenFull && !o.Renew
}

func kindOf(err error) error {
	if e, ok := err.(*Error); ok {
		return kinds[e.Status]
	}
	return nil
}

// use runs a call with the handle, which stays open during it.
func (s *Set) use(call func(*C.seen_set) *C.seen_error) error {
	s.lock.RLock()
	defer s.lock.RUnlock()
	if s.handle == nil {
		return fs.ErrClosed
	}
	return failure(call(s.handle))
}

var empty = []byte{0}

func (s *Set) one(what C.int, data unsafe.Pointer, n int) (bool, error) {
	s.lock.RLock()
	if s.handle == nil {
		s.lock.RUnlock()
		return false, fs.ErrClosed
	}
	if n == 0 {
		data = unsafe.Pointer(&empty[0])
	}
	got := C.shim_one(s.handle, what, data, C.size_t(n))
	s.lock.RUnlock()
	return bool(got.yes), failure(got.error)
}

func bytesOf(key []byte) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&key)) }
func textOf(key string) unsafe.Pointer  { return *(*unsafe.Pointer)(unsafe.Pointer(&key)) }

// Add adds a key; isNew is true if it was not present.
func (s *Set) Add(key []byte) (isNew bool, err error) {
	isNew, err = s.one(C.SHIM_ADD, bytesOf(key), len(key))
	runtime.KeepAlive(key)
	return
}

// AddString is Add without a copy of the key.
func (s *Set) AddString(key string) (isNew bool, err error) {
	isNew, err = s.one(C.SHIM_ADD, textOf(key), len(key))
	runtime.KeepAlive(key)
	return
}

// Has reports whether a key is present.
func (s *Set) Has(key []byte) (bool, error) {
	has, err := s.one(C.SHIM_CHECK, bytesOf(key), len(key))
	runtime.KeepAlive(key)
	return has, err
}

// HasString is Has without a copy of the key.
func (s *Set) HasString(key string) (bool, error) {
	has, err := s.one(C.SHIM_CHECK, textOf(key), len(key))
	runtime.KeepAlive(key)
	return has, err
}

// Remove takes one addition of a key back and reports whether it was present; Counting sets only.
func (s *Set) Remove(key []byte) (bool, error) {
	was, err := s.one(C.SHIM_REMOVE, bytesOf(key), len(key))
	runtime.KeepAlive(key)
	return was, err
}

// Merge adds everything in from to s. Both must have been created alike (Like).
func (s *Set) Merge(from *Set) error {
	if s == from {
		return nil
	}
	from.lock.RLock()
	defer from.lock.RUnlock()
	if from.handle == nil {
		return fs.ErrClosed
	}
	return s.use(func(set *C.seen_set) *C.seen_error { return C.shim_merge(set, from.handle) })
}

// Like makes an empty set in memory with the same parameters and seed.
func (s *Set) Like() (*Set, error) {
	var made *C.seen_set
	err := s.use(func(set *C.seen_set) *C.seen_error { return C.shim_like(set, &made) })
	if err != nil {
		return nil, err
	}
	return wrap(made), nil
}

// Sync makes durable what was added.
func (s *Set) Sync() error {
	return s.use(func(set *C.seen_set) *C.seen_error { return C.shim_sync(set) })
}

// Rotate starts the next generation of a window; the oldest is forgotten.
func (s *Set) Rotate() error {
	return s.use(func(set *C.seen_set) *C.seen_error { return C.shim_rotate(set) })
}

// Close syncs and closes the set; it waits for calls of other goroutines.
func (s *Set) Close() error {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.handle == nil {
		return fs.ErrClosed
	}
	err := failure(C.shim_sync(s.handle))
	C.seen_close(s.handle)
	s.handle = nil
	runtime.SetFinalizer(s, nil)
	return err
}

// Info describes a set.
type Info struct {
	Kind          Kind
	Growth        Growth
	Store         string
	Capacity      uint64
	ErrorRate     float64
	Bytes         uint64
	Hashes        int
	Layers        int
	Seed          [2]uint64
	Fill          float64
	KeysEstimated float64
	ErrorRateNow  float64
}

// Info reads every bit.
func (s *Set) Info() (Info, error) {
	var i C.seen_info
	err := s.use(func(set *C.seen_set) *C.seen_error { return C.shim_info(set, &i) })
	if err != nil {
		return Info{}, err
	}
	return Info{Kind: Kind(i.kind), Growth: Growth(i.growth), Store: C.GoString(i.store), Capacity: uint64(i.capacity),
		ErrorRate: float64(i.error_rate), Bytes: uint64(i.bytes), Hashes: int(i.hashes), Layers: int(i.layers),
		Seed: [2]uint64{uint64(i.seed[0]), uint64(i.seed[1])}, Fill: float64(i.fill),
		KeysEstimated: float64(i.keys_estimated), ErrorRateNow: float64(i.error_rate_now)}, nil
}

// MarshalBinary returns the set as the bytes of its file.
func (s *Set) MarshalBinary() ([]byte, error) {
	var data unsafe.Pointer
	var n C.size_t
	err := s.use(func(set *C.seen_set) *C.seen_error { return C.shim_save(set, &data, &n) })
	if err != nil {
		return nil, err
	}
	defer C.free(data)
	out := make([]byte, int(n))
	copy(out, unsafe.Slice((*byte)(data), int(n)))
	return out, nil
}

// FromBytes makes a set in memory from what MarshalBinary returned, or from the bytes of a file.
func FromBytes(data []byte) (*Set, error) {
	var set *C.seen_set
	if len(data) == 0 {
		data = empty
	}
	if err := failure(C.shim_load(unsafe.Pointer(&data[0]), C.size_t(len(data)), &set)); err != nil {
		return nil, err
	}
	return wrap(set), nil
}

// WriteTo writes the set as the bytes of its file.
func (s *Set) WriteTo(w io.Writer) (int64, error) {
	data, err := s.MarshalBinary()
	if err != nil {
		return 0, err
	}
	n, err := w.Write(data)
	return int64(n), err
}

// ReadFrom makes a set in memory from the bytes of a reader.
func ReadFrom(r io.Reader) (*Set, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return FromBytes(data)
}

// Drop removes a set: the file, or its keys in Redis.
func Drop(where string) error {
	name := C.CString(where)
	defer C.free(unsafe.Pointer(name))
	return failure(C.shim_drop(name))
}
