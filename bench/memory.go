package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"time"

	"labshelf/blobs"
	"labshelf/e2e"
)

// memoryLimit is how far above its idle size the service may grow while a large file comes in, in MiB.
const memoryLimit = 64

// large returns the large body: bytes that cannot be compressed, the same each time, made while they are read.
func (b *bench) large() io.Reader { return io.LimitReader(rand.NewChaCha8([32]byte{}), b.body) }

// memory measures how much memory the service takes for one large upload, and how fast that is beside writing alone.
func (b *bench) memory(ctx context.Context) ([]row, error) {
	hash := sha256.New()
	if _, err := io.Copy(hash, b.large()); err != nil {
		return nil, err
	}
	digest := hex.EncodeToString(hash.Sum(nil))
	size := fmt.Sprintf("upload of %.3g GiB", float64(b.body)/(1<<30))
	resident := row{what: size + ", peak memory", unit: "MiB", beside: "idle", difference: true, limit: memoryLimit}
	speed := row{what: size, unit: "MiB/s", beside: "bare disk"}
	for round := range b.rounds {
		b.say("memory, round %d", round+1)
		idle, peak, seconds, err := b.largeUpload(ctx, fmt.Sprintf("memory-%d", round), digest)
		if err != nil {
			return nil, err
		}
		bare, err := b.largeWrite()
		if err != nil {
			return nil, err
		}
		mib := float64(b.body) / (1 << 20)
		resident.ours, resident.theirs = append(resident.ours, peak), append(resident.theirs, idle)
		speed.ours, speed.theirs = append(speed.ours, mib/seconds), append(speed.theirs, mib/bare)
	}
	if runtime.GOOS != "linux" {
		b.say("memory: only Linux tells the peak of another process; the row is left out")
		return []row{speed}, nil
	}
	return []row{resident, speed}, nil
}

// largeUpload sends the large body to a new service, whose data are removed afterwards. It returns the service's resident
// memory before and at its greatest since, in MiB (0 where that cannot be known), and how long the upload took.
func (b *bench) largeUpload(ctx context.Context, name, digest string) (idle, peak, seconds float64, err error) {
	service, set, err := b.start(ctx, name)
	if err != nil {
		return 0, 0, 0, err
	}
	defer func() { err = errors.Join(err, service.Stop(), os.RemoveAll(filepath.Join(b.folder, name))) }()
	// A small upload first, so that what every service has in memory after its first minute is not counted.
	first := e2e.File{SetID: set, Filename: "first", Body: bytes.NewReader(smallBody(0)), Size: smallFile}
	if _, err := service.Upload(ctx, http.MethodPost, "/resources", first); err != nil {
		return 0, 0, 0, err
	}
	if idle, err = idleMemory(service.PID()); err != nil {
		return 0, 0, 0, err
	}
	begin := time.Now()
	file := e2e.File{SetID: set, Filename: "large", Body: b.large(), Size: b.body}
	made, err := service.Upload(ctx, http.MethodPost, "/resources", file)
	if err != nil {
		return 0, 0, 0, err
	}
	seconds = time.Since(begin).Seconds()
	if made.SHA256 != digest || made.Bytes != b.body {
		return 0, 0, 0, fmt.Errorf("%d bytes, %s were stored instead of %d, %s", made.Bytes, made.SHA256, b.body, digest)
	}
	peak, err = memoryOf(service.PID(), "VmHWM")
	return idle, peak, seconds, err
}

// largeWrite writes and syncs the large body, removes the file, and returns how long the first two took.
func (b *bench) largeWrite() (seconds float64, err error) {
	var disk blobs.OS
	path := filepath.Join(b.folder, "large")
	file, err := disk.Create(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.Remove(path)) }()
	begin := time.Now()
	// The file alone would read by itself, in smaller pieces than the service writes.
	_, err = io.CopyBuffer(struct{ io.Writer }{file}, b.large(), make([]byte, 256<<10))
	if err == nil {
		err = file.Sync()
	}
	seconds = time.Since(begin).Seconds()
	return seconds, errors.Join(err, file.Close())
}

// idleMemory returns the resident memory of a process in MiB, and makes VmHWM the greatest from now on.
func idleMemory(pid int) (float64, error) {
	if runtime.GOOS != "linux" {
		return 0, nil
	}
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0); err != nil {
		return 0, fmt.Errorf("reset the peak of memory: %w", err)
	}
	return memoryOf(pid, "VmRSS")
}

// memoryOf returns a line of /proc/PID/status, in MiB, or 0 where there is no such file.
func memoryOf(pid int, line string) (float64, error) {
	if runtime.GOOS != "linux" {
		return 0, nil
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	found := regexp.MustCompile(`(?m)^` + line + `:\s+(\d+) kB$`).FindSubmatch(text)
	if found == nil {
		return 0, fmt.Errorf("/proc/%d/status has no line %s", pid, line)
	}
	kib, err := strconv.ParseFloat(string(found[1]), 64)
	return kib / 1024, err
}
