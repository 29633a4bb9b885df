package pane

import (
	"fmt"
	"time"
)

// Duration formats a duration for display: "0.6 ms", "85 ms", "1.2 s", "3 min".
func Duration(d time.Duration) string {
	switch {
	case 0 < d && d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}
