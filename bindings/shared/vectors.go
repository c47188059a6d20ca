// Plays the table of test vectors: vectors TABLE FOLDER. See README.md.
package main

import (
	"bufio"
	"encoding/hex"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"seen"
)

func create(words []string, folder string) (*seen.Set, error) {
	var o seen.Options
	var seed [2]uint64
	o.Capacity, _ = strconv.ParseUint(words[1], 10, 64)
	o.ErrorRate, _ = strconv.ParseFloat(words[2], 64)
	seed[0], _ = strconv.ParseUint(words[5], 10, 64)
	seed[1], _ = strconv.ParseUint(words[6], 10, 64)
	o.Seed = &seed
	if words[3] == "counting" {
		o.Kind = seen.Counting
	}
	if words[4] == "siphash" {
		o.Hash = seen.SipHash
	}
	return seen.Create(filepath.Join(folder, words[0]+".seen"), o)
}

func main() {
	table, err := os.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	var set *seen.Set
	for lines := bufio.NewScanner(table); lines.Scan(); {
		words := strings.Split(lines.Text(), " ")
		if words[0] == "set" {
			if set, err = create(words[1:], os.Args[2]); err != nil {
				log.Fatal(err)
			}
			continue
		}
		key, _ := hex.DecodeString(words[1])
		call := set.Has
		if words[0] == "add" {
			call = set.Add
		}
		if got, err := call(key); err != nil || got != (words[2] == "1") {
			log.Fatal("Go: ", lines.Text(), got, err)
		}
	}
}
