package serve

import (
	"bytes"
	"errors"
	"net/http"
	"time"
)

// bodies bounds the memory of messages that are not answered yet. Each message waits for a slot of its size class
// before it is read, so that large messages do not delay small ones.
type bodies []*bodyLane

// bodyLane has the slots for messages up to a size.
type bodyLane struct {
	size  int64
	slots chan struct{}
	time  time.Duration // that a message may take to come
	held  bool          // until the message is answered, and not only until it is read
}

// slotTime is how long a message waits for a slot.
const slotTime = 30 * time.Second

// errNoSlot says that no slot became free in time.
var errNoSlot = errors.New("too many large messages are open: send this one again later")

// newBodies returns the lanes for messages up to limit, in bytes: 176 MiB in all where that is 64 MiB. A call's
// arguments are kept as long as it runs; small ones are bounded by the number of calls.
func newBodies(limit int64) bodies {
	lane := func(size int64, slots int, d time.Duration, held bool) *bodyLane {
		return &bodyLane{size: size, slots: make(chan struct{}, slots), time: d, held: held}
	}
	return bodies{
		lane(64<<10, 256, 30*time.Second, false),
		lane(1<<20, 32, time.Minute, true),
		lane(limit, 2, bodyTime, true),
	}
}

// laneOf returns the lane for a message of size bytes; a negative size is unknown.
func (b bodies) laneOf(size int64) *bodyLane {
	for _, lane := range b {
		if size >= 0 && size <= lane.size {
			return lane
		}
	}
	return b[len(b)-1]
}

// read reads a request's body of at most limit bytes, once there is a slot for it. done must
// be called when the message is answered.
func (b bodies) read(w http.ResponseWriter, r *http.Request, limit int64) (body []byte, done func(), err error) {
	if r.ContentLength > limit {
		return nil, nil, &http.MaxBytesError{Limit: limit}
	}
	lane := b.laneOf(r.ContentLength)
	wait := time.NewTimer(slotTime)
	defer wait.Stop()
	select {
	case lane.slots <- struct{}{}:
	case <-wait.C:
		return nil, nil, errNoSlot
	case <-r.Context().Done():
		return nil, nil, r.Context().Err()
	}
	free := func() { <-lane.slots }
	connection := http.NewResponseController(w)
	_ = connection.SetReadDeadline(time.Now().Add(lane.time)) // a recorder in tests has none
	var read bytes.Buffer
	read.Grow(int(max(0, r.ContentLength)) + bytes.MinRead)
	_, err = read.ReadFrom(http.MaxBytesReader(w, r.Body, limit))
	_ = connection.SetReadDeadline(time.Time{})
	if err != nil || !lane.held {
		free()
		free = func() {}
	}
	return read.Bytes(), free, err
}
